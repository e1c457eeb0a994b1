"""`odin-table conformance`."""

from pathlib import Path

import click


@click.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
def command(files: tuple[Path, ...]) -> int:
    """Run rule vectors (JSON lines) through the engine.

    Prints each difference (id, field, expected, got), then how many passed and failed. A file that
    cannot be read, or holds no vector, counts as one that failed. The exit code is 1 when any did.
    """
    from odin_engine.conformance import check_line

    passed = failed = 0
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            lines = []
            click.echo(f"{file}  file  expected JSON lines  got {error}")
        vectors = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
        if not vectors:
            failed += 1
            click.echo(f"{file}  file  expected vectors  got none")
        for number, line in vectors:
            differences = check_line(line, f"{file.name}:{number}")
            for difference in differences:
                click.echo(difference)
            failed += bool(differences)
            passed += not differences
    click.echo(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
