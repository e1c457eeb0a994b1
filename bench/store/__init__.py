"""Measurements of the file of tables: the disk below it, and the log alone."""
