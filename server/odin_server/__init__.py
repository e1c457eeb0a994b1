"""The server of odin-table: holds tables, tells everybody what they may know.

The folders, in the order in which one understands them: `table` (what a table is, as a fold of its
log, and what may be done to it), `event_log` (where it is persisted), `upkeep` (what happens on its
own) and `edge` (the transports). `lobby` holds the tables, `main` puts everything together.
"""
