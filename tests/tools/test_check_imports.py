"""The arrows between the packages, and the purity of the engine."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check_imports.py"


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), f"--root={root}"],
        capture_output=True,
        text=True,
        check=False,
    )


def write(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_this_project_is_clean() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("server/odin_server/a.py", "import odin_engine.cards\nimport grpc\n"),
        ("server/odin_server/a.py", "from odin_table.v1 import play_pb2\n"),
        ("client/odin_client/a.py", "from odin_engine import Card\nimport odin_table.v1\n"),
        ("client/odin_client/a.py", "from odin_contract.json_form import fill\n"),
        ("server/odin_server/a.py", "from odin_contract import json_form\n"),
        ("proto/odin_contract/a.py", "import odin_table.v1\nfrom odin_engine import Card\n"),
        ("client/odin_cli/commands/serve.py", "def serve():\n    import odin_server.main\n"),
        ("engine/odin_engine/a.py", "from odin_engine.cards import Card\nfrom . import b\n"),
        ("engine/odin_engine/a.py", "from collections.abc import Iterable\nimport math\n"),
        ("engine/odin_engine/a.py", "from random import Random\n"),
        ("engine/odin_engine/a.py", "def play(file):\n    return file.open()\n"),
    ],
)
def test_an_import_that_points_down_or_is_pure_passes(tmp_path: Path, file: str, text: str) -> None:
    write(tmp_path, file, text)
    done = check(tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("file", "text", "finding"),
    [
        ("engine/odin_engine/a.py", "import odin_table.v1\n", "a.py:1: odin_engine imports odin_t"),
        ("engine/odin_engine/a.py", "import odin_contract\n", "odin_engine imports odin_contract"),
        ("proto/odin_contract/a.py", "import odin_client\n", "odin_contract imports odin_client"),
        ("proto/odin_contract/a.py", "import odin_server\n", "odin_contract imports odin_server"),
        ("engine/odin_engine/s/a.py", "from odin_server import x\n", "s/a.py:1: odin_engine imp"),
        ("server/odin_server/a.py", "\nimport odin_client\n", "a.py:2: odin_server imports odin_c"),
        ("client/odin_client/a.py", "from odin_server import x\n", "odin_client imports odin_serv"),
        ("client/odin_client/a.py", "def a():\n    import odin_server\n", "a.py:2: odin_client i"),
        (
            "client/odin_client/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import odin_server\n",
            "a.py:3: odin_client imports odin_server",
        ),
        ("engine/odin_engine/a.py", "import time\n", "the engine imports time"),
        ("engine/odin_engine/a.py", "import random\n", "the engine imports random"),
        ("engine/odin_engine/a.py", "from random import choice\n", "imports choice from random"),
        ("engine/odin_engine/a.py", "import os.path as p\n", "the engine imports os.path"),
        ("engine/odin_engine/a.py", "import asyncio\n", "the engine imports asyncio"),
        ("engine/odin_engine/a.py", "import socket\n", "the engine imports socket"),
        ("engine/odin_engine/a.py", "import google.protobuf\n", "imports google.protobuf"),
        ("engine/odin_engine/a.py", "print(1)\n", "a.py:1: the engine calls print"),
        ("engine/odin_engine/a.py", "def a():\n    open('x')\n", "a.py:2: the engine calls open"),
    ],
)
def test_an_import_that_points_up_or_touches_the_world_is_found(
    tmp_path: Path, file: str, text: str, finding: str
) -> None:
    write(tmp_path, file, text)
    done = check(tmp_path)
    assert done.returncode == 1
    assert finding in done.stderr
    assert len(done.stderr.splitlines()) == 1
