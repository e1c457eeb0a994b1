"""Setting up on a machine that lacks something says what, and what to do."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What setting up needs of a clone, not set up yet."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def set_up(clone: Path, python: str) -> subprocess.CompletedProcess[str]:
    # Without what the `make` that runs the tests was given.
    given = ("MAKE", "ARGS", "PYTHON", "WORKERS")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(given)}
    return subprocess.run(
        ["make", "play", f"PYTHON={python}"],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def python_that_refuses(clone: Path, code: str) -> str:
    """A Python that is real except that programs with `code` in them fail."""
    python = clone / "python"
    python.write_text(f'#!/bin/sh\ncase "$2" in *"{code}"*) exit 1 ;; esac\nexec python3 "$@"\n')
    python.chmod(0o755)
    return str(python)


def test_an_old_python_is_refused(clone: Path) -> None:
    done = set_up(clone, python_that_refuses(clone, "version_info"))
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "make play PYTHON=python3.12" in done.stderr
    assert not (clone / ".venv").exists()


def test_a_missing_python_is_refused(clone: Path) -> None:
    done = set_up(clone, "python-that-is-not-there")
    assert done.returncode != 0
    assert 'needs Python 3.11 or newer, and "python-that-is-not-there" is none' in done.stderr


def test_a_python_without_venv_is_refused(clone: Path) -> None:
    done = set_up(clone, python_that_refuses(clone, "ensurepip"))
    assert done.returncode != 0
    assert "apt install python3-venv" in done.stderr
    assert not (clone / ".venv").exists()


def test_it_says_what_takes_so_long_before_it_does(clone: Path) -> None:
    into = clone / ".venv/bin"
    into.mkdir(parents=True)
    for name, does in (("python", 'echo "(python $*)"'), ("odin-table", 'echo "(odin-table $*)"')):
        (into / name).write_text(f"#!/bin/sh\n{does}\n")
        (into / name).chmod(0o755)
    done = set_up(clone, "python3")
    assert done.returncode == 0
    said, fetching, installed, started = done.stdout.splitlines()
    assert said == "Setting up .venv for playing. The first time this takes half a minute."
    assert fetching == "  fetching and installing packages ..."
    assert installed.startswith("(python -m pip install")
    assert started == "(odin-table play)"
