"""The seats: a small SDK, the terminal client, line mode, JSON mode, bots, and the command line.

A program of one's own needs three names: `Connection` (one server), `Session` (one table) and
`TableModel` (what is known of that table).
"""
