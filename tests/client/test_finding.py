"""How tables are listed: every column has a heading, and a terminal gets no line that it breaks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from odin_cli.finding import describe
from odin_cli.terminal.views.cells import width
from odin_client.connection.address import Address
from odin_contract.enums import Occupant, Phase
from odin_contract.values import Options, Seat, TableSummary

TABLES = [
    (
        Address(host, port, handle),
        TableSummary(
            handle,
            Options(seats=2, title=title, turn_time=45, bank=600),
            Phase.WAITING,
            (Seat(0, Occupant.PERSON, "Ann"), Seat(1)),
            deal=0,
            create_time=datetime(2026, 11, 30, tzinfo=UTC),
        ),
    )
    for host, port, handle, title in (
        ("192.168.1.20", 7711, "K7QF", "Longship"),
        ("192.168.1.120", 7712, "T4WX", "x" * 40),
        ("fe80::1234:5678:9abc%wlan0", 7712, "M2ZD", "日本語の卓" * 8),
    )
]


def test_every_column_has_a_heading_and_the_first_is_what_to_type() -> None:
    heading, *lines = describe(TABLES)
    assert heading.startswith("odin-table ...")
    assert lines[0].startswith("join K7QF@192.168.1.20 ")
    assert lines[2].startswith('join "M2ZD@[fe80::1234:5678:9abc%wlan0]:7712" ')
    for line, (_address, table) in zip(lines, TABLES, strict=True):
        assert line.endswith(f"  {table.options.title}")
        before = line[: -len(table.options.title)]
        assert width(before) == heading.index("TITLE")


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    assert all(width(line) <= columns for line in describe(TABLES, columns))
