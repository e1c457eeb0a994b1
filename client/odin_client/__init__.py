"""The SDK: for anyone who writes a bot or a front end in Python.

A program of one's own needs three names: `Connection` (one server), `Session` (one table) and
`TableModel` (what is known of that table).
"""
