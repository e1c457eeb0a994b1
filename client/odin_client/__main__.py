"""`python -m odin_client` is `odin-table`."""

from odin_client.commands.main import main

main()
