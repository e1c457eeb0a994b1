"""What docs/write-a-client.md tells people to type works, with `grpcurl` itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.end_to_end.terminal_tables import running_server
from tests.interop.examples import BUILD_PATIENCE, ROOT
from tests.support.need import need

pytestmark = pytest.mark.interop

GRPCURL: Final = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3"

IN_TEST: Final = """
set -e
# A stream has no end of its own.
grpcurl() {
  case "$*" in
    *WatchTable) command grpcurl -max-time 5 "$@" || true ;;
    *) command grpcurl "$@" ;;
  esac
}
"""

ONLY_TABLE: Final = (
    """TABLE=$(call LobbyService/ListTables '{}' | sed -n 's/.*"table": "\\(.*\\)".*/\\1/p')"""
)


@pytest.mark.timeout(BUILD_PATIENCE + 120)
def test_the_commands_of_the_page_open_a_table_and_play(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        need("Go (it builds grpcurl)")
    subprocess.run(
        ["go", "install", GRPCURL],
        env={**os.environ, "GOBIN": str(tmp_path)},
        timeout=BUILD_PATIENCE,
        check=True,
    )
    page = (ROOT / "docs" / "write-a-client.md").read_text(encoding="utf-8")
    (seed,) = re.findall(r"^odin-table serve --seed (\d+) ", page, flags=re.MULTILINE)
    (commands,) = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)
    with running_server(tmp_path, seed=int(seed)) as server:
        commands = commands.replace("localhost:7711", server.address)
        commands = re.sub(r"^TABLE=.*$", lambda _: ONLY_TABLE, commands, flags=re.MULTILINE)
        done = subprocess.run(
            ["sh", "-c", IN_TEST + commands],
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    for said in ("odin_table.v1.HistoryService", "rpc Act (", '"choices"', '"default_action"'):
        assert said in done.stdout
    # The stream begins with a snapshot in which the card that was played is the centre, or beaten.
    assert '"centre_value"' in done.stdout.partition('"snapshot"')[2]
