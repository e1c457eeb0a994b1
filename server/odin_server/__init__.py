"""The server of odin-table: holds tables, tells everybody what they may know.

The rooms, in the order in which one understands them: `events` and `table_state` (what a table
is, as a fold of its log), `table_commands` (what may be done to it), `event_log` (where it is
kept), `table` (one owner per table), `watch` (streams), `presence`, `bots`, `chat`, `lobby`,
then the edge: `credentials`, `limits`, `wire`, `errors`, `service`, `settings`, `main`.
"""
