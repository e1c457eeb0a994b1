"""The table of keys: complete, without clashes, and the same as the line of keys says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odin_cli.terminal.keys import ALWAYS, bindings, bound
from odin_contract.values import Seat
from tests.client.terminal import samples


@pytest.mark.parametrize("name", samples.SCREENS)
def test_no_key_means_two_things(name: str) -> None:
    keys = [key for binding in bindings(samples.SCREENS[name]()) for key in binding.keys]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("name", samples.SCREENS)
def test_every_key_exists_in_any_terminal(name: str) -> None:
    plain = {"enter", "escape", "tab", "s-tab", "space", "backspace", "left", "right", "up"}
    plain |= {"down", "pageup", "pagedown", "f1", "f2", "c-c", "c-l", "c-z"}
    for binding in bindings(samples.SCREENS[name]()):
        for key in binding.keys:
            assert key in plain or (len(key) == 1 and key.isascii() and key.isprintable())
        # A function key may be taken by the terminal: it has a plain twin.
        if any(key.startswith("f") and len(key) == 2 for key in binding.keys):
            assert any(len(key) == 1 for key in binding.keys)


@pytest.mark.parametrize("name", samples.SCREENS)
def test_quitting_works_everywhere(name: str) -> None:
    assert set(ALWAYS) <= set(bindings(samples.SCREENS[name]()))


def test_escape_never_leaves_or_acts() -> None:
    harmless = {"clear", "stay", "open", "to_waiting_room"}
    for make in samples.SCREENS.values():
        for binding in bindings(make()):
            assert "escape" not in binding.keys or binding.command in harmless


def test_digits_are_numbers_and_capitals_are_colours_while_playing() -> None:
    meaning = {key: binding for binding in bindings(samples.your_turn()) for key in binding.keys}
    for number in range(1, 10):
        assert meaning[str(number)].argument == number
    for letter in "ROYGBV":
        assert meaning[letter].command == "type_colour"


def test_a_watcher_has_no_keys_that_act() -> None:
    acting = {"play", "pass_turn", "take", "ready", "start", "chat", "add_bot"}
    assert not acting & {binding.command for binding in bindings(samples.watching())}


def test_only_the_host_starts_and_seats_bots() -> None:
    here = samples.waiting()
    assert {"start", "add_bot", "remove_bot"} <= {b.command for b in bindings(here)}
    here.table.view = replace(here.table.view, i_am_host=False)
    assert not {"start", "add_bot", "remove_bot"} & {b.command for b in bindings(here)}


def test_only_the_host_removes_people_and_only_when_there_is_one() -> None:
    here = samples.waiting()
    assert "ask_whom_to_remove" in {b.command for b in bindings(here)}
    here.table.view = replace(here.table.view, i_am_host=False)
    assert "ask_whom_to_remove" not in {b.command for b in bindings(here)}
    alone = samples.waiting()
    alone.table.view = replace(
        alone.table.view,
        seats=tuple(
            seat if seat.seat == alone.table.my_seat else Seat(seat.seat)
            for seat in alone.table.seats
        ),
    )
    assert "ask_whom_to_remove" not in {b.command for b in bindings(alone)}


@pytest.mark.parametrize(
    "keys",
    [
        "123456789",
        "&é\"'(-è_ç",
        "&é\"'(§è!ç",
        "".join(map(chr, range(0xFF11, 0xFF1A))),
        "١٢٣٤٥٦٧٨٩",
    ],
)
def test_the_digits_of_every_keyboard_are_numbers(keys: str) -> None:
    here = bindings(samples.your_turn())
    for number, key in enumerate(keys, start=1):
        binding = bound(key, here)
        assert binding is not None, key
        assert (binding.command, binding.argument) == ("type_number", number)


def test_a_key_with_a_meaning_of_its_own_keeps_it() -> None:
    minus = bound("-", bindings(samples.waiting()))
    assert minus is not None
    assert minus.command == "change_level"
    assert bound("\N{FULLWIDTH DIGIT FIVE}", bindings(samples.waiting())) is None
