"""`odin-table conformance`."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odin_cli.command_line import argument, command_with, option
from odin_cli.speech.languages import _

if TYPE_CHECKING:
    from odin_conformance.play import Pace
    from odin_conformance.points import Point


@dataclass(frozen=True)
class ConformanceOptions:
    """Of `odin-table conformance`."""

    files: tuple[Path, ...] = argument(
        nargs=-1, type=click.Path(path_type=Path), metavar="[FILE...]"
    )
    client: str | None = option("--client", metavar="COMMAND", help=_("The client to check."))
    names: tuple[str, ...] = option(
        "--point",
        multiple=True,
        metavar="NAME",
        help=_("Only this point, or all that a pattern such as 'deal.*' fits; may be repeated."),
    )
    checks_deals: bool = option(
        "--checks-deals",
        is_flag=True,
        help=_("The client checks deals: run the points deal.* as well."),
    )
    list: bool = option("--list", is_flag=True, help=_("List the points, and end."))
    patience: float = option(
        "--patience",
        type=click.FloatRange(0.1, 3600),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help=_("How long to wait for anything that the client has to do."),
    )
    heartbeat: float = option(
        "--heartbeat",
        type=click.FloatRange(0.1, 600),
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help=_("For how long a stream may be quiet before a client may give it up."),
    )
    jobs: int = option(
        "--jobs",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help=_("How many points to run at once."),
    )


@command_with(
    ConformanceOptions,
    _("Check a client on the wire, or run rule vectors (JSON lines) through the engine."),
    _(
        "With --client a scripted server leads a client, in any language, through one "
        "point of the contract after the other. Each time COMMAND is run anew: it has to "
        "take the free seat, play the one deal to its end and end with exit code 0. It is "
        "judged by what it calls and how it ends, never by what it prints."
    ),
    _(
        "A client that checks deals says so with --checks-deals: then the points deal.* "
        "are run as well, in which the server lies about a deal. The client has to add a "
        "nonce, send no further act after a lie and end with another exit code than 0."
    ),
    _(
        "COMMAND is split like a shell does. In it {address} (or {host} and {port}), "
        "{table} and {name} stand for the server, the table and the name to play under; "
        "when none of them is there, {address} --table {table} --name {name} is added."
    ),
    _(
        "With files: prints each difference (id, field, expected, got), then how many "
        "passed and failed. A file that cannot be read, or holds no vector, counts as "
        "one that failed."
    ),
    _("The exit code is 1 when anything failed."),
)
def command(asked: ConformanceOptions) -> int:
    """Prints what was expected and what came. Its lines are for programs, hence in English."""
    if asked.list:
        return _list()
    if asked.client is None and not asked.files:
        raise click.UsageError(_("Name a client with --client, or files with rule vectors."))
    if asked.client is not None and asked.files:
        raise click.UsageError(_("Either --client or files: they are two checks."))
    if asked.client is None:
        return _check_files(asked.files)
    from odin_cli.interface import run_in_loop
    from odin_conformance.play import Pace
    from odin_conformance.program import words_of

    try:
        words = words_of(asked.client)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--client") from None
    pace = Pace(patience=asked.patience, quiet=asked.heartbeat)
    points = _points(asked.names, asked.checks_deals)
    return run_in_loop(_check_client(words, points, pace, asked.jobs))


def _list() -> int:
    points = _points(("*",), checks_deals=True)
    longest = max(len(point.name) for point in points)
    for point in points:
        click.echo(f"{point.name:{longest}}  {point.expected}")
    return 0


def _points(names: tuple[str, ...], checks_deals: bool) -> list[Point]:
    """The points with these names, or all that the client says to be for it; in their own order."""
    from odin_conformance.deal_points import DEAL_POINTS
    from odin_conformance.points import POINTS

    known = (*POINTS, *DEAL_POINTS)
    for name in names:
        if not any(fnmatchcase(point.name, name) for point in known):
            raise click.BadParameter(
                _("There is no point {name}. See --list.").format(name=name),
                param_hint="--point",
            )
    if not names:
        return list(known if checks_deals else POINTS)
    return [point for point in known if any(fnmatchcase(point.name, name) for name in names)]


async def _check_client(words: tuple[str, ...], points: list[Point], pace: Pace, jobs: int) -> int:
    from odin_client.errors import ClientError
    from odin_conformance.program import Program, filled_in
    from odin_conformance.run import report, run_points

    passed = 0
    try:
        async for result in run_points(
            points, lambda address: Program.start(filled_in(words, address)), pace, jobs
        ):
            passed += result.passed
            for line in report(result):
                click.echo(line)
    except OSError as error:
        raise ClientError(
            _("{program} cannot be started: {problem}.").format(
                program=words[0], problem=error.strerror or error
            ),
            _("Is the path right, seen from this folder?"),
        ) from error
    click.echo(f"{passed} passed, {len(points) - passed} failed")
    return 0 if passed == len(points) else 1


def _check_files(files: tuple[Path, ...]) -> int:
    passed = failed = 0
    for file in files:
        for differences in _checked(file):
            for difference in differences:
                click.echo(difference)
            failed += bool(differences)
            passed += not differences
    click.echo(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _checked(file: Path) -> Iterator[list[str]]:
    """The differences of each vector of a file, in order; empty lines are skipped."""
    from odin_engine.conformance import check_line

    try:
        content = file.read_bytes()
    except OSError as error:
        yield [f"{file}  file  expected one that can be read  got {error.strerror or error}"]
        return
    # Not by characters: a text may hold some that Python takes for the end of a line.
    lines = content.removeprefix(codecs.BOM_UTF8).splitlines()
    if not any(line.strip() for line in lines):
        yield [f"{file}  file  expected a vector on each line  got nothing"]
    for number, line in enumerate(lines, start=1):
        where = f"{file.name}:{number}"
        try:
            text = line.decode()
        except UnicodeDecodeError:
            yield [f"{where}  line  expected UTF-8  got other bytes"]
            continue
        if text.strip():
            yield [str(difference) for difference in check_line(text, where)]
