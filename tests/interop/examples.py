"""The clients of examples/: what builds and checks each of them, and how it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

ROOT: Final = Path(__file__).resolve().parents[2]

BUILD_PATIENCE: Final = 900
"""Seconds for one step of a build: the first one fetches and compiles all dependencies."""

Command: TypeAlias = Sequence[str]


@dataclass(frozen=True)
class Example:
    """A client in another language."""

    language: str
    folder: Path
    needs: tuple[str, ...]
    """The programs that have to be on this machine."""
    build: tuple[Command, ...]
    check: tuple[Command, ...]
    """Its language's own tools, for format and style, and its own tests. All have to succeed."""
    run: Command
    """Runs it, from its folder; HOST:PORT and options are added."""
    run_short: Command = ()
    """Runs the short client beside it, in the same way. Empty: there is none."""

    def missing(self) -> list[str]:
        """What it needs and this machine has not."""
        return [program for program in self.needs if shutil.which(program) is None]

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Runs commands in its folder. All of them have to succeed."""
        for command in commands:
            done = subprocess.run(
                command,
                cwd=self.folder,
                # The generator of the contract's code comes with our own tools.
                env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=BUILD_PATIENCE,
                check=False,
            )
            assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}"


_CARGO: Final = ("env", "RUSTC_WORKSPACE_WRAPPER=clippy-driver", "cargo")
"""Looks at the code as `cargo clippy` does, which would compile all dependencies a second time."""

EXAMPLES: Final = (
    Example(
        "Go",
        ROOT / "examples/go",
        needs=("go",),
        build=(
            ("go", "generate"),
            ("go", "build"),
            ("go", "build", "-o", "odin-table-go-short", "./short"),
        ),
        check=(
            ("sh", "-c", 'test -z "$(gofmt -l . | tee /dev/stderr)"'),
            ("go", "vet", "./..."),
            ("go", "test", "./..."),
        ),
        run=("./odin-table-go",),
        run_short=("./odin-table-go-short",),
    ),
    Example(
        "TypeScript",
        ROOT / "examples/typescript",
        needs=("node", "npm"),
        build=(
            ("npm", "ci", "--no-audit", "--no-fund"),
            ("npm", "run", "generate"),
            ("npm", "run", "build"),
        ),
        check=(("npm", "run", "--silent", "check"), ("npm", "test")),
        run=("node", "dist/src/main.js"),
        run_short=("node", "dist/src/short.js"),
    ),
    Example(
        "Rust",
        ROOT / "examples/rust",
        needs=("cargo", "clippy-driver", "rustfmt"),
        build=((*_CARGO, "build", "--locked"),),
        check=(("cargo", "fmt", "--check"), (*_CARGO, "test", "--locked")),
        run=("./target/debug/odin-table-rust",),
        run_short=("./target/debug/short",),
    ),
)
