"""Runs command lines of `odin-table` in the process of the tests: usage, settings, exit codes."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from unittest import mock

from odin_cli import main
from odin_cli.local.logs import OURS
from odin_cli.speech import languages


@dataclass(frozen=True)
class Finished:
    """What came of a command line."""

    code: int
    out: list[str]
    errors: list[str]

    def end(self) -> int:
        """Its exit code."""
        return self.code

    def line_with(self, text: str) -> str:
        """The first line on stdout with this text."""
        return self._first(self.out, text)

    def error_with(self, text: str) -> str:
        """The first line on stderr with this text."""
        return self._first(self.errors, text)

    def _first(self, lines: list[str], text: str) -> str:
        found = [line for line in lines if text in line]
        assert found, "\n".join(["stdout:", *self.out, "stderr:", *self.errors])
        return found[0]


def run_here(arguments: Sequence[str], environ: Mapping[str, str], cwd: Path) -> Finished:
    """Runs a command line in this environment and folder, with an input that is at its end."""
    with _as_a_program(environ), contextlib.chdir(cwd), _streams() as (out, errors):
        code = main.run(list(arguments))
        return Finished(code, _lines(out), _lines(errors))


@contextlib.contextmanager
def _as_a_program(environ: Mapping[str, str]) -> Generator[None]:
    """What a command line changes of its process is as before afterwards."""
    language, complaints = languages.spoken(), logging.raiseExceptions
    levels = {name: logging.getLogger(name).level for name in OURS}
    try:
        with mock.patch.dict(os.environ, environ, clear=True):
            yield
    finally:
        languages.use(language)
        logging.raiseExceptions = complaints
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextlib.contextmanager
def _streams() -> Generator[tuple[TextIO, TextIO]]:
    """Real files in the place of the standard streams: a command may write by their numbers."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        Path(os.devnull).open(encoding="utf-8") as nothing,
        mock.patch.multiple(sys, stdin=nothing, stdout=out, stderr=errors),
    ):
        yield out, errors


def _lines(stream: TextIO) -> list[str]:
    stream.flush()
    stream.seek(0)
    return stream.read().splitlines()
