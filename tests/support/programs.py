"""`odin-table`, and other programs, as processes with pipes instead of a terminal."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_contract.values import Options
from tests.support.in_process import Finished, run_here
from tests.support.patience import PATIENCE
from tests.support.processes import environment

PERSON: Final = {"LOGNAME": "zoe", "ODIN_INTERFACES": "127.0.0.1"}
"""In the environment of each program."""


class Program:
    """One running program. What it prints is collected as it comes."""

    def __init__(
        self,
        module: str,
        arguments: tuple[str, ...],
        state: Path,
        *,
        cwd: Path | None = None,
        **more: str,
    ) -> None:
        """Starts it. Its files lie in `state`; `more` is for its environment."""
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment(state, **PERSON, **more),
            cwd=cwd,
        )
        self.out: list[str] = []
        self.errors: list[str] = []
        self._news = threading.Condition()
        self._seen = 0
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._readers = [
            threading.Thread(target=self._collect, args=(stream, lines), daemon=True)
            for stream, lines in (
                (self.process.stdout, self.out),
                (self.process.stderr, self.errors),
            )
        ]
        for reader in self._readers:
            reader.start()

    def _collect(self, stream: IO[str], lines: list[str]) -> None:
        for line in stream:
            with self._news:
                lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def type(self, text: str) -> None:
        """Sends a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def end_input(self) -> None:
        """Closes its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def next_line(self, wanted: Callable[[str], bool]) -> str:
        """The next line on stdout, after those that were asked for before, that is wanted."""
        end = time.monotonic() + PATIENCE
        with self._news:
            while True:
                while self._seen < len(self.out):
                    self._seen += 1
                    if wanted(self.out[self._seen - 1]):
                        return self.out[self._seen - 1]
                left = end - time.monotonic()
                over = self.process.poll() is not None and not self._readers[0].is_alive()
                if over or left <= 0:
                    raise AssertionError(f"{self._report()}")
                self._news.wait(min(left, 0.5))

    def line_with(self, text: str) -> str:
        """The next line on stdout with this text."""
        return self.next_line(lambda line: text in line)

    def error_with(self, text: str) -> str:
        """A line on stderr with this text."""
        with self._news:
            found = self._news.wait_for(lambda: any(text in line for line in self.errors), PATIENCE)
        assert found, self._report()
        return next(line for line in self.errors if text in line)

    def next_json(self, key: str) -> Any:
        """What the next object on stdout with this key has under it."""
        line = self.next_line(lambda line: key in json.loads(line))
        return json.loads(line)[key]

    def end(self) -> int:
        """Waits until it has ended by itself; gives its exit code."""
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def stop(self) -> None:
        """Ends it if it runs, and closes its pipes."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue

    def _report(self) -> str:
        return "\n".join(["stdout:", *self.out, "stderr:", *self.errors])


class Programs:
    """Starts programs that share a home, and ends those that still run."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._started: list[Program] = []
        self._servers: dict[str, Program] = {}

    def set(self, content: str) -> Path:
        """Writes the file of settings of these programs; gives where it is."""
        file = self._state / "config" / "odin-table" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return file

    def start(
        self, *arguments: str, cwd: Path | None = None, person: str = "", **more: str
    ) -> Program:
        """Starts `odin-table` with these arguments, perhaps on another person's machine."""
        return self._start("odin_cli", arguments, self._state / person, cwd, **more)

    def start_module(
        self, module: str, *arguments: str, cwd: Path | None = None, **more: str
    ) -> Program:
        """Starts another program, `python -m module`."""
        return self._start(module, arguments, self._state, cwd, **more)

    def _start(
        self,
        module: str,
        arguments: tuple[str, ...],
        state: Path,
        cwd: Path | None,
        **more: str,
    ) -> Program:
        program = Program(module, arguments, state, cwd=cwd, **more)
        self._started.append(program)
        return program

    def run(self, *arguments: str, cwd: Path | None = None) -> Finished:
        """Runs one command line of `odin-table` without input, in this process, to its end.

        Settings, files and answers are those of a process of its own; signals, pipes and the log
        are not: see `run_apart`.
        """
        return run_here(arguments, environment(self._state, **PERSON), cwd or Path.cwd())

    def run_apart(self, *arguments: str) -> Program:
        """The same in a process of its own, where that is the point."""
        program = self.start(*arguments)
        program.end_input()
        program.end()
        return program

    def serve(self, *arguments: str) -> str:
        """Starts a server without pauses; gives HOST:PORT."""
        changes = ("--set", "bot_delay=0", "--set", "deal_pause=0.01", "--listen", "127.0.0.1:0")
        server = self.start("serve", *changes, *arguments)
        address = server.line_with("serves on").split()[-1]
        self._servers[address] = server
        return address

    def pid_of_server(self, address: str) -> int:
        """The number of its process."""
        return self._servers[address].process.pid

    def kill_server(self, address: str) -> None:
        """As a crash: without a word."""
        self._servers[address].stop()

    def stop_all(self) -> None:
        """Ends what still runs, the youngest first."""
        for program in reversed(self._started):
            program.stop()


@contextmanager
def programs_in(state: Path) -> Generator[Programs]:
    """Programs that are ended at the end."""
    programs = Programs(state)
    try:
        yield programs
    finally:
        programs.stop_all()


def gone(pid: int) -> bool:
    """Whether this process, which is nobody's child here, ends within the deadline."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def open_table(server: str, options: Options | None = None) -> str:
    """Opens a table whose host takes no seat and goes; gives what `join` takes."""

    async def opening() -> str:
        connection = await Connection.open(Address.parse(server), Credential.new())
        session = await Session.open_table(connection, options)
        await connection.close()
        return str(session.address)

    return asyncio.run(opening())
