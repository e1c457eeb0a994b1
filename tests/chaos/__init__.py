"""Proof that nothing is lost, however often the server is killed and lines are cut.

`python -m tests.chaos` (make chaos) lets bots of the SDK play at many tables, over lines that are
cut at random, at a server that is killed every second or so. A quarter of all requests is sent
twice. Every answer and every number that a viewer is sent is kept, and in the end all of it is
compared with the log.

- `ledger`: what was answered and told, and what was wrong with it at once.
- `connection`: the SDK's connection, whose requests are sent twice now and then.
- `players`: tables with bots, and onlookers.
- `disturbance`: a server that can be killed, and lines that are cut.
- `audit`: the end, compared with the log.
- `run`: all of it together, and the figures.
"""
