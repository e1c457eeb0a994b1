"""Checks that imports point down only, and that the engine stays pure.

What lives here: the arrows between the packages (client → proto; server → proto and engine;
engine → nothing; the client may use the rules too, and so may what is written by hand beside the
stubs) and what the engine may know of Python.
A finding says where, what, and what to do instead.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent

PACKAGES: Final = {
    "odin_engine": "engine/odin_engine",
    "odin_server": "server/odin_server",
    "odin_client": "client/odin_client",
    "odin_cli": "client/odin_cli",
    "odin_conformance": "client/odin_conformance",
    "odin_contract": "proto/odin_contract",
    "odin_table": "proto/gen/python/odin_table",
}
"""Our packages and where they lie."""

MAY_IMPORT: Final = {
    "odin_engine": frozenset[str](),
    "odin_server": frozenset({"odin_contract", "odin_table", "odin_engine"}),
    "odin_client": frozenset({"odin_contract", "odin_table", "odin_engine"}),
    "odin_cli": frozenset(
        {"odin_client", "odin_conformance", "odin_contract", "odin_table", "odin_engine"}
    ),
    "odin_conformance": frozenset({"odin_contract", "odin_table", "odin_engine"}),
    "odin_contract": frozenset({"odin_table", "odin_engine"}),
    "odin_table": frozenset[str](),
}
"""Which of our packages each of them may import, besides itself."""

EXCEPTIONS: Final = {
    # The command `serve` puts the program together: the one place that runs a server.
    ("client/odin_cli/commands/serve.py", "odin_server"),
}

PURE_MODULES: Final = frozenset(
    (
        *("__future__", "abc", "array", "bisect", "collections", "copy", "dataclasses", "enum"),
        *("functools", "hashlib", "heapq", "hmac", "itertools", "json", "math", "operator", "re"),
        *("string", "textwrap", "types", "typing", "unicodedata"),
    )
)
"""The part of Python's library that has no clock, no chance, no I/O and no tasks."""

PURE_NAMES: Final = {"random": frozenset({"Random"})}
"""Modules of which only some names are pure: a source of chance that is handed in has a type."""

IMPURE_BUILTINS: Final = frozenset(
    ("__import__", "breakpoint", "eval", "exec", "input", "open", "print")
)


def imported_names(tree: ast.AST) -> Iterator[tuple[int, str, str | None]]:
    """Yields line, module and name (None for a whole module) of each absolute import in `tree`.

    Imports inside functions and below TYPE_CHECKING count: an arrow is about who knows whom.
    A relative import stays inside its package, hence is of no interest.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, None
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            for alias in node.names:
                yield node.lineno, node.module, alias.name


def wrong_arrows(package: str, file: str, tree: ast.AST) -> Iterator[str]:
    """Yields a finding for each import of a package of ours that `package` may not know."""
    for line, module, _ in imported_names(tree):
        target = module.partition(".")[0]
        if target == package or target not in PACKAGES:
            continue
        if target not in MAY_IMPORT[package] and (file, target) not in EXCEPTIONS:
            yield (
                f"{file}:{line}: {package} imports {target}. Imports point down only; "
                f"{package} may import {_listed(MAY_IMPORT[package]) or 'nothing of ours'}."
            )


def impurities(file: str, tree: ast.AST) -> Iterator[str]:
    """Yields a finding for each import or call by which the engine would touch the world."""
    for line, module, name in imported_names(tree):
        top = module.partition(".")[0]
        if top in PACKAGES or top in PURE_MODULES or name in PURE_NAMES.get(module, ()):
            continue
        what = module if name is None else f"{name} from {module}"
        instead = (
            f"and import only {_listed(PURE_NAMES[module])} from {module}"
            if module in PURE_NAMES
            else "or add the module to PURE_MODULES if it has no effect"
        )
        yield (
            f"{file}:{line}: the engine imports {what}. It is pure: hand in what it needs from "
            f"there as an argument, {instead}."
        )
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_BUILTINS:
                yield (
                    f"{file}:{node.lineno}: the engine calls {name}. It is pure: "
                    f"return a value and let the caller do that."
                )
            case _:
                pass


def findings(root: Path) -> Iterator[str]:
    """Yields every finding in the project at `root`."""
    for package, folder in PACKAGES.items():
        for path in sorted((root / folder).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=file)
            yield from wrong_arrows(package, file, tree)
            if package == "odin_engine":
                yield from impurities(file, tree)


def _listed(names: frozenset[str]) -> str:
    return " and ".join(sorted(names))


def main() -> int:
    """Prints the findings; returns the exit code."""
    parser = argparse.ArgumentParser(description="Check that imports point down only.")
    parser.add_argument("--root", type=Path, default=ROOT)
    found = list(findings(parser.parse_args().root))
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
