"""The committed stubs are a complete, current and importable package."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "generate_stubs.py"
COMMITTED = ROOT / "proto" / "gen" / "python" / "odin_table"

SERVICE = """\
syntax = "proto3";
package odin_table.v1;
import "odin_table/v1/guest.proto";
service DoorService {
  rpc Open(Guest) returns (Guest);
}
"""
MESSAGES = """\
syntax = "proto3";
package odin_table.v1;
message Guest {}
"""


def generate(protos: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), f"--protos={protos}", f"--out={out}", *more],
        capture_output=True,
        text=True,
        check=False,
    )


def write_contract(protos: Path) -> None:
    folder = protos / "odin_table" / "v1"
    folder.mkdir(parents=True)
    (folder / "door.proto").write_text(SERVICE)
    (folder / "guest.proto").write_text(MESSAGES)


def files_below(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_a_package_is_written_with_service_modules_for_services_only(tmp_path: Path) -> None:
    write_contract(tmp_path / "proto")
    done = generate(tmp_path / "proto", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert files_below(tmp_path / "out") == {
        "odin_table/__init__.py",
        "odin_table/py.typed",
        "odin_table/v1/__init__.py",
        "odin_table/v1/door_pb2.py",
        "odin_table/v1/door_pb2.pyi",
        "odin_table/v1/door_pb2_grpc.py",
        "odin_table/v1/door_pb2_grpc.pyi",
        "odin_table/v1/guest_pb2.py",
        "odin_table/v1/guest_pb2.pyi",
    }


def test_the_stubs_of_a_deleted_file_go(tmp_path: Path) -> None:
    write_contract(tmp_path / "proto")
    generate(tmp_path / "proto", tmp_path / "out")
    (tmp_path / "proto/odin_table/v1/door.proto").unlink()
    assert generate(tmp_path / "proto", tmp_path / "out").returncode == 0
    assert not list((tmp_path / "out").rglob("door*"))


def test_a_check_names_what_differs_and_writes_nothing(tmp_path: Path) -> None:
    write_contract(tmp_path / "proto")
    generate(tmp_path / "proto", tmp_path / "out")
    edited = tmp_path / "out/odin_table/v1/guest_pb2.py"
    edited.write_text("# by hand\n")
    (tmp_path / "out/odin_table/v1/left_over_pb2.py").touch()
    (tmp_path / "out/odin_table/v1/door_pb2.pyi").unlink()
    done = generate(tmp_path / "proto", tmp_path / "out", "--check")
    assert done.returncode == 1
    for name in ("v1/guest_pb2.py", "v1/left_over_pb2.py", "v1/door_pb2.pyi", "make stubs"):
        assert name in done.stderr
    assert edited.read_text() == "# by hand\n"


def test_a_contract_that_does_not_compile_leaves_the_stubs_alone(tmp_path: Path) -> None:
    write_contract(tmp_path / "proto")
    generate(tmp_path / "proto", tmp_path / "out")
    before = files_below(tmp_path / "out")
    (tmp_path / "proto/odin_table/v1/guest.proto").write_text("message Guest {")
    done = generate(tmp_path / "proto", tmp_path / "out")
    assert done.returncode == 1
    assert "guest.proto" in done.stderr
    assert files_below(tmp_path / "out") == before


def test_a_folder_without_a_contract_is_refused(tmp_path: Path) -> None:
    done = generate(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "no .proto file" in done.stderr


def test_the_oldest_libraries_allowed_can_load_the_committed_stubs() -> None:
    generated: dict[str, set[str]] = {"grpcio": set(), "protobuf": set()}
    for path in COMMITTED.rglob("*_pb2*.py"):
        text = path.read_text()
        generated["grpcio"].update(re.findall(r"GRPC_GENERATED_VERSION = '(.+)'", text))
        generated["protobuf"].update(re.findall(r"Protobuf Python Version: (\S+)", text))
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for library, versions in generated.items():
        (version,) = versions
        assert any(line.startswith(f"{library}>={version},") for line in dependencies), (
            f"The stubs need {library}>={version}: say so in pyproject.toml."
        )
