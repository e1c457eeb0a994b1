"""A host frees a seat, and whoever held it takes none at that table again (RemoveSeat)."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable
from contextlib import aclosing

import grpc
import pytest

from odin_table.v1 import event_pb2, lobby_pb2, table_pb2
from tests.server.conftest import Meet, Serve
from tests.server.test_refusals import refused
from tests.server.test_restart import Reopen, reopen
from tests.support.people import Person, payload, told_until

__all__ = ["reopen"]  # the fixture

DENIED = grpc.StatusCode.PERMISSION_DENIED
INVALID = grpc.StatusCode.INVALID_ARGUMENT


def remove(host: Person, table: str, seat: int, name: str = "") -> Awaitable[object]:
    request = lobby_pb2.RemoveSeatRequest(table=table, seat=seat, name=name)
    return host.call(host.lobby.RemoveSeat, request)


@pytest.mark.parametrize("occupant", [table_pb2.OCCUPANT_PERSON, table_pb2.OCCUPANT_REMOTE_BOT])
async def test_a_removed_credential_takes_no_seat_there_also_at_the_next_server(
    serve: Serve, meet: Meet, reopen: Reopen, occupant: table_pb2.Occupant.ValueType
) -> None:
    first = await serve(log=reopen())
    ann, bob = meet(first, "Ann"), meet(first, "Bob")
    assert "remove_seat" in (await ann.call(ann.lobby.GetServerInfo, _info())).features
    table, other = await ann.open_table(), await ann.open_table()
    await ann.sit(table)
    await bob.sit(table, occupant=occupant)
    await remove(ann, table, 1, "bob")
    events = await told_until(bob, table, "seat_left")
    assert events[-1].seat_left.reason == event_pb2.LEAVE_REASON_REMOVED
    await refused(bob.sit(table), "NOT_ALLOWED", DENIED)
    await refused(bob.ready(table), "NOT_ALLOWED", DENIED)
    await bob.sit(other, occupant=occupant)
    before = await ann.view(table)
    await first.stop()

    second = await serve(log=reopen())
    ann, bob, cleo = (meet(second, name) for name in ("Ann", "Bob", "Cleo"))
    assert await ann.view(table) == before
    await refused(bob.sit(table), "NOT_ALLOWED", DENIED)
    assert (await cleo.sit(table)).seat == 1, "the seat is free for anyone else"
    assert not (await bob.view(table)).HasField("your_seat"), "watching stays possible"


def _info() -> lobby_pb2.GetServerInfoRequest:
    return lobby_pb2.GetServerInfoRequest()


async def test_only_the_host_removes_and_only_who_was_meant(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob, cleo = (meet(server, name) for name in ("Ann", "Bob", "Cleo"))
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await ann.add_bot(table)
    await refused(remove(bob, table, 0), "NOT_ALLOWED", DENIED)
    await refused(remove(cleo, table, 1), "NOT_ALLOWED", DENIED)
    for seat, name in ((0, ""), (1, "Cleo"), (2, ""), (3, ""), (-1, ""), (6, "")):
        await refused(remove(ann, table, seat, name), "INVALID_OPTION", INVALID)
    await ann.start(table)
    precondition = grpc.StatusCode.FAILED_PRECONDITION
    await refused(remove(ann, table, 1), "ALREADY_STARTED", precondition)
    await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=table))
    await refused(remove(ann, table, 1), "GAME_OVER", precondition)


async def test_the_game_starts_when_the_last_who_was_not_ready_is_removed(
    serve: Serve, meet: Meet
) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    await remove(ann, table, 1)
    kinds = [payload(event) for event in await told_until(bob, table, "game_started")]
    assert kinds[-2:] == ["seat_left", "game_started"]


async def test_nobody_is_shown_the_credential_that_was_barred(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await remove(ann, table, 1)
    digest = hashlib.sha256(bob.credential).digest()
    for viewer in (ann, bob):
        said = (await viewer.view(table)).SerializeToString()
        async with aclosing(viewer.watch(table, after_seq=0)) as items:
            said += (await anext(items)).SerializeToString()
        for secret in (bob.credential, digest):
            assert secret not in said
            assert secret.hex().encode() not in said
