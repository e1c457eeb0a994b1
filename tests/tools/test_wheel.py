"""The wheel holds every package under its own name: an installed program finds all of itself."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import check_imports
import pytest


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel that was built just now."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    subprocess.run(build, cwd=check_imports.ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as content:
        return set(content.namelist())


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: set[str]) -> None:
    folders = {name.partition("/")[0] for name in wheel if ".dist-info/" not in name}
    assert folders == set(check_imports.PACKAGES)


def test_every_file_of_our_packages_is_in_the_wheel(wheel: set[str]) -> None:
    tracked = subprocess.run(
        ("git", "ls-files", *check_imports.PACKAGES.values()),
        cwd=check_imports.ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    missing = {
        file
        for package, folder in check_imports.PACKAGES.items()
        for file in tracked
        if Path(file).is_relative_to(folder)
        and f"{package}/{Path(file).relative_to(folder).as_posix()}" not in wheel
    }
    assert not missing
