"""Generates the Python stubs of the contract, or checks that the committed ones are current.

What lives here: the way from proto/odin_table/v1/*.proto to proto/gen/python, and nothing else.
The package that is written is complete: messages, services, their types, and the files that
make it an importable, typed package. It is replaced as a whole, so that the stubs of a deleted
file do not linger. Services are typed for grpc.aio, which is all that this project uses.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "odin_table"
PACKAGE_DOC = '"""The contract of odin-table: generated, see the comments in the .proto files."""\n'


class GenerationError(Exception):
    """The contract could not be turned into stubs; the text says why."""


def generate(protos: Path, out: Path) -> None:
    """Writes the package odin_table, made from the .proto files below `protos`, into `out`.

    Raises GenerationError when there is no contract or protoc refuses it; `out` is then untouched.
    """
    sources = sorted(path.relative_to(protos) for path in (protos / PACKAGE).rglob("*.proto"))
    if not sources:
        raise GenerationError(f"There is no .proto file below {protos / PACKAGE}.")
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        _run_protoc(protos, sources, made)
        _drop_empty_services(made)
        _make_package(made / PACKAGE)
        shutil.rmtree(out / PACKAGE, ignore_errors=True)
        shutil.copytree(made / PACKAGE, out / PACKAGE)


def differences(wanted: Path, found: Path) -> list[str]:
    """Returns the files below the two folders that differ or exist in one only, sorted."""
    names = _files_below(wanted) | _files_below(found)
    _, different, missing = filecmp.cmpfiles(wanted, found, names, shallow=False)
    return sorted(different + missing)


def _run_protoc(protos: Path, sources: list[Path], out: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"--proto_path={protos}",
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet,only_async:{out}",
        *map(str, sources),
    ]
    # protoc looks for the plugins on PATH; they lie beside the Python that runs this.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise GenerationError(f"protoc refuses the contract:\n{done.stderr.strip()}")


def _drop_empty_services(folder: Path) -> None:
    """Deletes what protoc writes for the services of a file that has none."""
    for module in folder.rglob("*_pb2_grpc.py"):
        if "Servicer" not in module.read_text():
            module.unlink()
            module.with_suffix(".pyi").unlink()


def _make_package(package: Path) -> None:
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (folder / "__init__.py").write_text(PACKAGE_DOC)
    (package / "py.typed").touch()


def _files_below(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def main() -> int:
    """Generates, or with --check compares; returns the exit code."""
    parser = argparse.ArgumentParser(description="Generate the Python stubs of the contract.")
    parser.add_argument("--protos", type=Path, default=ROOT / "proto")
    parser.add_argument("--out", type=Path, default=ROOT / "proto" / "gen" / "python")
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    options = parser.parse_args()
    try:
        if not options.check:
            generate(options.protos, options.out)
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            generate(options.protos, Path(scratch))
            stale = differences(Path(scratch) / PACKAGE, options.out / PACKAGE)
    except GenerationError as error:
        print(error, file=sys.stderr)
        return 1
    if stale:
        print("The stubs do not match the contract:", *stale, sep="\n  ", file=sys.stderr)
        print("Run `make stubs` and commit what it writes.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
