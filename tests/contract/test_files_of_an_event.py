"""How many files a new event touches: docs/design.md, section 4, works one through."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 8


def written_by_hand() -> list[Path]:
    """Every .py and .proto file but tests, examples, measurements, tools and what is generated."""
    return [
        path
        for root in ("engine", "server", "client", "proto")
        for path in sorted((ROOT / root).rglob("*"))
        if path.suffix in (".py", ".proto") and ROOT / "proto/gen" not in path.parents
    ]


@pytest.mark.parametrize("event", ["NonceGiven", "HostChanged"])
def test_an_event_with_a_public_payload_is_named_in_few_files(event: str) -> None:
    payload = re.sub(r"\B(?=[A-Z])", "_", event).lower()
    names = re.compile(rf"\b({event}|{payload})\b")
    touched = [
        path.relative_to(ROOT).as_posix()
        for path in written_by_hand()
        if names.search(path.read_text(encoding="utf-8"))
    ]
    assert "proto/odin_contract/fold.py" in touched, "the event is there"
    assert len(touched) <= MOST, touched
