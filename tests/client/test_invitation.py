"""The line to type, and its picture."""

import segno

from odin_cli.lan.invitation import join_command, join_commands, qr_lines
from odin_client.connection.address import Address

TABLE = Address("127.0.0.1", 7712, "K7QF")
BRIGHT = {"█": (True, True), "▀": (True, False), "▄": (False, True), " ": (False, False)}


def test_the_line_has_all_that_is_needed() -> None:
    assert join_command(TABLE) == "odin-table join K7QF@127.0.0.1:7712"
    assert join_command(TABLE, "ABCDEFGH") == "odin-table join K7QF@127.0.0.1:7712 --code ABCDEFGH"


def test_there_is_a_line_for_each_address() -> None:
    assert join_commands(TABLE, ["192.0.2.1", "2001:db8::1"]) == [
        "odin-table join K7QF@192.0.2.1:7712",
        'odin-table join "K7QF@[2001:db8::1]:7712"',
    ]


def test_the_picture_is_the_qr_code_of_the_text() -> None:
    text = join_command(Address("192.168.100.200", 7712, "K7QF"), "ABCDEFGH")
    drawn = [[BRIGHT[character] for character in line] for line in qr_lines(text)]
    modules = [[half[part] for half in row] for row in drawn for part in (0, 1)]
    code = segno.make_qr(text, error="L", boost_error=False)
    wanted = [[not dark for dark in row] for row in code.matrix_iter(border=2)]
    assert modules[: len(wanted)] == wanted
    assert not any(any(row) for row in modules[len(wanted) :])


def test_the_longest_usual_one_leaves_room_on_a_screen_of_24_rows() -> None:
    lines = qr_lines(join_command(Address("192.168.100.200", 7712, "K7QF"), "ABCDEFGH"))
    assert len(lines) <= 19
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) <= 40


def test_in_ascii_there_is_none() -> None:
    assert qr_lines("odin-table join K7QF@127.0.0.1", ascii_only=True) == []
