"""What a shell completes; asked of the shells themselves, where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from odin_cli.commands.completion import SHELLS
from odin_cli.lan.known_servers import KnownServers
from odin_client.connection.address import Address

ASK_BASH = """
eval "$(odin-table completion bash)"
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_odin_table_completion odin-table
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ASK = {
    "bash": ASK_BASH,
    "fish": "odin-table completion fish | source; complete --do-complete '{words}'",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of one's own, and our program in the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "XDG_STATE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}


def completed(shell: str, words: str, environment: dict[str, str]) -> list[str]:
    """What the shell offers for the last of these words."""
    if shutil.which(shell) is None:
        # `make test` has to pass where there is only Python; bash is there with make.
        pytest.skip(f"there is no {shell} here")
    script = ASK[shell].format(words=words)
    done = subprocess.run(
        [shell, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", ASK)
def test_commands_options_and_known_servers_are_completed(
    shell: str, environment: dict[str, str]
) -> None:
    KnownServers(Path(environment["XDG_STATE_HOME"]) / "odin-table" / "servers.json").remember(
        Address("odin.example")
    )
    assert completed(shell, "odin-table jo", environment) == ["join"]
    assert completed(shell, "odin-table join --disc", environment) == ["--discovery"]
    assert completed(shell, "odin-table join od", environment) == ["odin.example"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["odin-table", "completion", shell],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert f"{shell}_complete" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True, env=environment)


def test_a_mistake_in_the_settings_does_not_disturb_completion(
    environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "odin-table" / "config.toml"
    file.parent.mkdir()
    file.write_text("nonsense = 1\n")
    wrong = environment | {"XDG_CONFIG_HOME": str(tmp_path)}
    assert completed("bash", "odin-table join --na", wrong) == ["--name"]
