"""The catalogues of the languages: brings them up to date, compiles them, checks them.

A catalogue holds every text of the client, and those of click that our commands can show. It is
sorted by text and names no lines, so that a change of the code changes only what it has to.
Compiled catalogues are not committed: building a wheel and setting up a clone make them.
"""

from __future__ import annotations

import argparse
import ast
import re
import string
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
CLIENT = ROOT / "client"
CATALOGUES: Final = "odin_cli/speech/locale/*/LC_MESSAGES/odin-table.po"

OF_CLICK: Final = frozenset(
    {
        ("Show this message and exit.",),
        ("Commands",),
        ("Options",),
        ("Usage:",),
        ("Error: {message}",),
        ("Try '{command} {option}' for help.",),
        ("Invalid value: {message}",),
        ("Invalid value for {param_hint}: {message}",),
        ("Missing argument",),
        ("Missing option",),
        ("Missing command.",),
        ("No such command {name!r}.",),
        ("No such option {name!r}.",),
        ("default: {default}",),
        ("{value} is not in the range {range}.",),
        ("{value!r} is not a valid {number_type}.",),
        ("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"),
        ("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
        ("{value!r} is not {choice}.", "{value!r} is not one of {choices}."),
        ("Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments."),
    }
)
"""What click says about a command that was mistyped, and in help."""

Forms = tuple[str, ...]
"""A text as it is said: one form, or one and many."""


def forms(text: str | Sequence[str] | None) -> Forms:
    """The forms of a text, or of its translation."""
    return (text,) if isinstance(text, str) else tuple(text or ())


def texts_in(folder: Path) -> set[Forms]:
    """Every text below a folder of Python code that can be translated.

    Read from the syntax tree, since those in f-strings count as well. Raises ValueError for a
    call with anything else than a literal text, which no catalogue could hold.
    """
    return {
        text
        for path in sorted(folder.rglob("*.py"))
        for text in _texts_of(ast.parse(path.read_text(encoding="utf-8"), str(path)), path)
    }


def _texts_of(tree: ast.AST, path: Path) -> Iterator[Forms]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="_" | "Translatable"), args=[ast.Constant(value=str(text))]
            ):
                yield (text,)
            case ast.Call(
                func=ast.Name(id="ngettext"),
                args=[ast.Constant(value=str(one)), ast.Constant(value=str(many)), _],
            ):
                yield one, many
            case ast.Call(func=ast.Name(id="_" | "ngettext" | "Translatable" as name)):
                raise ValueError(f"{path}:{node.lineno}: {name} takes literal texts")
            case _:
                pass


def template(client: Path = CLIENT) -> Catalog:
    """Every text, without any translation."""
    catalogue = Catalog(charset="utf-8")
    for text in texts_in(client) | OF_CLICK:
        catalogue.add(text[0] if len(text) == 1 else text)
    return catalogue


def read(path: Path) -> Catalog:
    """The catalogue in a file."""
    with path.open("rb") as file:
        return read_po(file)


def update(path: Path, wanted: Catalog) -> None:
    """Adds new texts without a translation, and takes out those that are gone."""
    catalogue = read(path)
    catalogue.update(
        wanted, no_fuzzy_matching=True, update_header_comment=False, update_creation_date=False
    )
    catalogue.obsolete.clear()
    with path.open("wb") as file:
        write_po(file, catalogue, width=98, sort_output=True, no_location=True)


def compile_all(client: Path = CLIENT) -> list[Path]:
    """Compiles every catalogue beside itself; gives the compiled ones."""
    compiled: list[Path] = []
    for path in sorted(client.glob(CATALOGUES)):
        target = path.with_suffix(".mo")
        with target.open("wb") as file:
            write_mo(file, read(path))
        compiled.append(target)
    return compiled


def findings(path: Path, wanted: Catalog) -> Iterator[str]:
    """Yields what is wrong with a catalogue: missing, left over, untranslated, doubtful."""
    catalogue = read(path)
    texts = {forms(message.id): message for message in catalogue if message.id}
    needed = {forms(message.id) for message in wanted if message.id}
    for text in sorted(needed - texts.keys()):
        yield f"{path.name}: lacks {text}"
    for text in sorted(texts.keys() - needed):
        yield f"{path.name}: no code says {text} any more"
    for text, message in texts.items():
        if problem := _problem(message, catalogue.num_plurals):
            yield f"{path.name}: {problem}: {text}"


def _problem(message: Message, plurals: int) -> str | None:
    """What is wrong with one translation."""
    originals, texts = forms(message.id), forms(message.string)
    if not all(texts) or len(texts) != (plurals if len(originals) > 1 else 1):
        return "not translated"
    if message.fuzzy:
        return "not sure of its translation"
    allowed = [_places(text) for text in originals]
    if any(_places(text) not in allowed for text in texts):
        return "the named places differ"
    ends = [_ends(text) for text in originals]
    if any(_ends(text) not in ends for text in texts):
        return "blanks at the ends differ"
    return None


def _places(text: str) -> frozenset[str]:
    """The named places of a text, with their formats."""
    try:
        return frozenset(
            f"{name}:{form}" for _, name, form, _ in string.Formatter().parse(text) if name
        )
    except ValueError:
        return frozenset({f"cannot be read: {text}"})


def _ends(text: str) -> tuple[bool, bool]:
    return bool(re.match(r"\s", text)), bool(re.search(r"\s$", text))


class CompiledCatalogues(BuildHookInterface[Any]):
    """Lets hatchling compile the catalogues before it packs or installs the project."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling; `version` is the kind of build."""
        compile_all(Path(self.root) / "client")


def main() -> int:
    """Does what was asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description="Update, compile or check the catalogues.")
    parser.add_argument("--check", action="store_true", help="only say what is wrong")
    parser.add_argument("--compile", action="store_true", help="only compile")
    arguments = parser.parse_args()
    wanted = template()
    paths = sorted(CLIENT.glob(CATALOGUES))
    if not arguments.check and not arguments.compile:
        for path in paths:
            update(path, wanted)
    if not arguments.check:
        compile_all()
    if arguments.compile:
        return 0
    found = [finding for path in paths for finding in findings(path, wanted)]
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
