"""The program `odin-table`: its commands and its interfaces."""
