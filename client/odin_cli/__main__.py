"""`python -m odin_cli` is `odin-table`."""

from odin_cli.main import main

main()
