"""Names at a table: whatever reads like another player's, or like nothing, is refused."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from odin_server.confusables import read_alike, reads_like_a_mark
from odin_server.edge import service
from odin_server.event_log import SqliteLog
from odin_server.table.commands import seats
from odin_table.v1 import chat_pb2, lobby_pb2, table_pb2
from tests.server.conftest import Meet, Serve
from tests.support.people import Person, Refused

INVISIBLE = (
    "\ufe0f",
    "\u034f",
    "\u180b",
    "\u3164",
    "\uffa0",
    "\u115f",
    "\u2800",
    "\u17b5",
    "\u200d",
)


async def take(person: Person, table: str, name: str) -> lobby_pb2.TakeSeatResponse:
    request = lobby_pb2.TakeSeatRequest(table=table, name=name)
    answer: lobby_pb2.TakeSeatResponse = await person.call(person.lobby.TakeSeat, request)
    return answer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann", "aNN"),
        ("Ann", "\N{CYRILLIC CAPITAL LETTER A}nn"),
        ("ANN", "\N{CYRILLIC SMALL LETTER A}nn"),
        ("Ann", "\N{FULLWIDTH LATIN CAPITAL LETTER A}nn"),
        ("Ann", "A nn"),
        ("Ian", "lan"),
        ("Bill", "Bi11"),
        ("Sam", "Sarn"),
        ("Bob", "B0b"),
        ("Straße", "STRASSE"),
        *(("Ann", f"An{char}n") for char in INVISIBLE),
    ],
    ids=ascii,
)
def test_names_that_read_alike(one: str, other: str) -> None:
    assert read_alike(one, other)
    assert read_alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("Ann", "Anna"), ("Zoe", "Zoë"), ("fox-1", "fox-2"), ("Ян", "Ann")]
)
def test_names_that_differ(one: str, other: str) -> None:
    assert not read_alike(one, other)


@pytest.mark.parametrize(
    "name",
    [
        *("You", "host", "HOST", "h0st", "vous", "Hôte", "(you)", "Ann (you)", "fox [bot]"),
        *("Ann(YOU)", "Léa (vous)", "Ann \uff08you\uff09", "fox \u3010bot\u3011", "Ann [host"),
    ],
    ids=ascii,
)
def test_names_that_read_like_what_clients_write(name: str) -> None:
    assert reads_like_a_mark(name)


@pytest.mark.parametrize("name", ["Youssef", "Ghost", "bot", "fox (2)", "Ann [the 1st]", "(-:"])
def test_names_that_only_look_a_little_like_it(name: str) -> None:
    assert not reads_like_a_mark(name)


async def test_a_name_that_reads_like_another_is_taken(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    for name in ("ann", "\N{CYRILLIC CAPITAL LETTER A}nn", *(f"Ann{char}" for char in INVISIBLE)):
        with pytest.raises(Refused, match="Ann at this table has that name") as refused:
            await take(bob, table, name)
        assert refused.value.reason == "NAME_TAKEN"
        assert refused.value.facts == {"name": "Ann"}
    for name in ("Ann (you)", "host"):
        with pytest.raises(Refused, match="what clients write at a seat") as refused:
            await take(bob, table, name)
        assert refused.value.reason == "NAME_TAKEN"
        assert refused.value.facts == {}
    with pytest.raises(Refused) as refused:
        await ann.call(ann.lobby.AddBot, lobby_pb2.AddBotRequest(table=table, name="A\u034fnn"))
    assert refused.value.reason == "NAME_TAKEN"


async def test_what_cannot_be_seen_is_no_name_and_no_chat(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(title="\u2800\u3164"))
    options = (await ann.view(table)).options
    assert options.title == ""
    for name in INVISIBLE:
        with pytest.raises(Refused) as refused:
            await take(ann, table, f" {name} ")
        assert refused.value.code is grpc.StatusCode.INVALID_ARGUMENT
        assert (refused.value.reason, refused.value.fields) == ("MALFORMED", ["name"])
        assert (
            refused.value.message == "name: A name needs at least one character that can be seen."
        )
    await ann.sit(table)
    with pytest.raises(Refused) as refused:
        await ann.call(
            ann.chat.SendChat, chat_pb2.SendChatRequest(table=table, text="\u2800\ufe0f")
        )
    assert refused.value.fields == ["text"]


async def test_a_script_keeps_the_joiners_that_it_needs(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await take(ann, table, "می\u200cروم")
    await take(bob, table, "👩🏽\u200d🚀")
    assert [seat.name for seat in (await ann.view(table)).seats][:2] == [
        "می\u200cروم",
        "👩🏽\u200d🚀",
    ]


async def test_a_bot_gets_a_name_that_reads_like_no_other(serve: Serve, meet: Meet) -> None:
    server = await serve()
    host, astrid = meet(server, "Host's"), meet(server, "Astrid")
    table = await host.open_table()
    await take(astrid, table, "\N{CYRILLIC CAPITAL LETTER A}strid")
    assert (await host.add_bot(table)).name == "Bjorn"


def _anything_goes(*_args: object, **_named: object) -> None:
    """As long ago."""


def _as_it_is(_field: str, text: str, *_args: object, **_named: object) -> str:
    return text


async def test_names_of_an_old_log_stay_as_they_are(
    serve: Serve, meet: Meet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks are made when a seat is taken, and never when a log is folded."""
    names = ["Ann", "Ann\ufe0f", "host", "\u3164"]
    with monkeypatch.context() as unchecked:
        unchecked.setattr(seats, "name_is_free", _anything_goes)
        unchecked.setattr(service, "cleaned", _as_it_is)
        old = await serve(log=SqliteLog(tmp_path / "tables.db"))
        people = [meet(old, name) for name in names]
        table = await people[0].open_table(table_pb2.TableOptions(seats=4))
        for person in people:
            await person.sit(table)
        await old.stop()
    new = await serve(log=SqliteLog(tmp_path / "tables.db"))
    ann = meet(new, "Ann")
    assert [seat.name for seat in (await ann.view(table)).seats] == names
    await ann.start(table)
