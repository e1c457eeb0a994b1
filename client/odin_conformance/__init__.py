"""A kit on the wire for whoever writes a client: `odin-table conformance --client COMMAND`.

A scripted server leads a client through one point of the contract after the other, and judges it by
what it calls and how it ends. The rooms: `table` (the fixed game, and its messages for the one seat
that matters), `fair_table` (one that commits itself to its deals, and may lie about them), `calls`
(a call that waits, a stream, a refusal), `server` (takes the calls), `play` (the words of the
scripts), `points` and `deal_points` (the scripts, one for each point), `program` (a client under
test as a process), `run` (runs points, and says what was expected and what came).
"""
