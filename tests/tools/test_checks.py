"""Each check of `make check` lets a small good project pass and stops a bad one, with its cure."""

import os
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CONTRACT = """\
syntax = "proto3";

package odin_table.v1;

// Lets people in.
service DoorService {
  // Opens the door.
  rpc Open(OpenRequest) returns (OpenResponse);
}

// Asks for the door to be opened.
message OpenRequest {}

// Says who waits behind the door.
message OpenResponse {
  // The one who waits.
  Guest guest = 1;
}

// Somebody at the door.
message Guest {
  // As they call themselves.
  string name = 1;
}
"""


def make(project: Path, verb: str) -> subprocess.CompletedProcess[str]:
    """Runs make in `project`, without setting anything up."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(
        ["make", "--old-file=.venv/ready-to-develop", verb],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def write(project: Path, file: str, text: str) -> None:
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project in the shape of ours, in which every check passes."""
    for name in ("Makefile", "pyproject.toml", "buf.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tools" / "typings").mkdir(parents=True)
    for name in ("generate_stubs.py", "contract_reference.py", "check_imports.py", "catalogues.py"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    for package in (
        "engine/odin_engine",
        "server/odin_server",
        "client/odin_client",
        "client/odin_cli",
        "client/odin_conformance",
        "proto/odin_contract",
        "tests",
        "bench",
    ):
        write(tmp_path, f"{package}/__init__.py", '"""A package."""\n')
    write(tmp_path, "proto/odin_table/v1/door.proto", CONTRACT)
    release = (".venv/bin/buf", "build", "--output=proto/released.binpb")
    subprocess.run(release, cwd=tmp_path, check=True)
    assert make(tmp_path, "stubs").returncode == 0
    return tmp_path


def test_a_good_project_passes_every_check(project: Path) -> None:
    done = make(project, "check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("verb", "file", "text", "complaint"),
    [
        ("check-format", "engine/odin_engine/a.py", '"""A."""\nA = { 1 }\n', "make format"),
        ("check-lint", "engine/odin_engine/a.py", '"""A."""\n\nimport enum\n', "F401"),
        ("check-lint", "server/odin_server/a.py", "def a() -> None:\n    pass\n", "D100"),
        ("check-lint", "tests/a.py", "A = 1  # noqa: E501\n", "RUF100"),
        ("check-types", "engine/odin_engine/a.py", "def a(b):\n    return b\n", "no-untyped-def"),
        ("check-types", "tests/a.py", "A = 1  # type: ignore[misc]\n", "unused-ignore"),
        (
            "check-types",
            "bench/a.py",
            "A = 1  # pyright: ignore[reportCallIssue]\n",
            "reportUnnecessaryTypeIgnoreComment",
        ),
        (
            "check-types",
            "client/odin_client/a.py",
            """\
            from odin_table.v1 import door_pb2

            A: int = door_pb2.Guest().name
            """,
            "assignment",
        ),
        (
            "check-contract",
            "proto/odin_table/v1/door.proto",
            CONTRACT.replace("// As they call themselves.\n", "\n"),
            "comment",
        ),
        (
            "check-contract",
            "proto/odin_table/v1/door.proto",
            CONTRACT.replace("string name", "string  name"),
            "make format",
        ),
        (
            "check-contract",
            "proto/odin_table/v1/door.proto",
            CONTRACT.replace("string name = 1;", "string name = 2;"),
            "add beside it",
        ),
        (
            "check-contract",
            "proto/odin_table/v1/door.proto",
            CONTRACT.replace("// As they call themselves.\n  string name = 1;", "reserved 1;"),
            "add beside it",
        ),
        (
            "check-stubs",
            "proto/odin_table/v1/door.proto",
            CONTRACT.replace("string name = 1;", "int32 name = 1;"),
            "make stubs",
        ),
        ("check-stubs", "docs/contract.md", "# Written by hand\n", "make stubs"),
        (
            "check-imports",
            "engine/odin_engine/a.py",
            "import odin_server\n",
            "odin_engine imports odin_server",
        ),
    ],
)
def test_a_bad_file_is_found(
    project: Path, verb: str, file: str, text: str, complaint: str
) -> None:
    write(project, file, text)
    done = make(project, verb)
    assert done.returncode != 0
    assert complaint in done.stdout + done.stderr


NAME = "  string name = 1;\n"
AGE = "  // In years.\n  int32 age = 2;\n"


def test_the_contract_may_grow(project: Path) -> None:
    write(project, "proto/odin_table/v1/door.proto", CONTRACT.replace(NAME, NAME + AGE))
    done = make(project, "check-contract")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_was_released_cannot_be_taken_back(project: Path) -> None:
    image = project / "proto/released.binpb"
    before = image.read_bytes()
    write(project, "proto/odin_table/v1/door.proto", CONTRACT.replace(NAME, NAME + AGE))
    assert make(project, "release-contract").returncode == 0
    released = image.read_bytes()
    assert released != before
    write(project, "proto/odin_table/v1/door.proto", CONTRACT)
    assert make(project, "release-contract").returncode != 0
    assert image.read_bytes() == released
