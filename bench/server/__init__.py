"""How close the server comes to what grpc.aio can do at all.

Each measurement runs in three processes: a server (the product or the thin one), the load, and the
command that starts both and compares. The load cannot tell the two servers apart.

- `floor`: the thin server, without any rules.
- `product`: the real server, with its limits out of the way.
- `seats`: the clients of the load: tables, seats that play, watchers.
- `load`: the measures, run in the process of the load.
- `measurements`: which figure is compared with which floor, and the aims.
- `processes`: starting both kinds of process, and reading what a process has used.
- `report`: the table and the JSON object.
"""
