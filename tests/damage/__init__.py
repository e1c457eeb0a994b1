"""Proof that no changed bit of a file of tables is silent.

`python -m tests.damage` (make damage) flips bits one at a time, in the file and in its WAL, or cuts
the WAL, and opens what is left.
"""
