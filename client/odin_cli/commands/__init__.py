"""One file per command of `odin-table`. `main` loads the one that is asked for, and no other."""
