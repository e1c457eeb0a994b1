"""Proof that memory comes back after many abandoned tables and many reconnects of one seat.

`python -m tests.soak` (make soak) prints the server's memory before, at the most, and after.
"""
