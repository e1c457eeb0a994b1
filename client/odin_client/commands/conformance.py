"""`odin-table conformance`."""

import codecs
from collections.abc import Iterator
from pathlib import Path

import click

from odin_client.languages import _


@click.command(
    help="\n\n".join(
        (
            _("Run rule vectors (JSON lines) through the engine."),
            _(
                "Prints each difference (id, field, expected, got), then how many passed and "
                "failed. A file that cannot be read, or holds no vector, counts as one that "
                "failed. The exit code is 1 when any did."
            ),
        )
    )
)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
def command(files: tuple[Path, ...]) -> int:
    """Prints what differs. Its lines are for programs, hence in English."""
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
