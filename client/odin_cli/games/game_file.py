"""The file of a finished game: JSON lines, whole, with every hand.

The first line is a header, `{"odinTableGame": 2, "view": TABLE}`, where TABLE is the contract's
`TableView` before the first event: the options, who sat where, what the first deal follows from.
Every further line is one `Event` of the game as the history gives it. All of it in protobuf's own
JSON mapping, and each line with a digest before it (`chain`), which files of format 1 do not have.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from pathlib import Path
from typing import Final

from google.protobuf import json_format

from odin_cli.games.chain import OPENING, broken_line, chained
from odin_cli.local.state_folder import data_folder, private_folder, replace_file
from odin_cli.speech.languages import _
from odin_client.connection.connection import Connection
from odin_client.errors import ClientError, Refused
from odin_contract.fold import fold
from odin_contract.limits import EVENTS_PER_PAGE
from odin_contract.options import options_message
from odin_contract.reading import event_of, seat_message
from odin_contract.texts import handle_as_kept
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import TableView
from odin_table.v1 import event_pb2, history_pb2, play_pb2, table_pb2

FORMAT: Final = 2
"""What is written. Older files can be read; those of a later format are refused."""

_HEADER: Final = "odinTableGame"
_UNREADABLE: Final = (ValueError, KeyError, IndexError, TypeError, RecursionError)
"""What lines raise that hold something else than a game."""


class BadGameFile(ClientError):
    """A file that holds no game, or cannot be read or written."""


@dataclass(frozen=True)
class SavedGame:
    """One finished game of a table."""

    view: table_pb2.TableView
    """The table before the first event."""
    events: Sequence[event_pb2.Event]
    format: int = FORMAT
    """Of the file that it was read from."""

    @property
    def game(self) -> int:
        """Which game of its table it is, from 1."""
        return next((e.game_started.game for e in self.events if e.HasField("game_started")), 1)

    @property
    def day(self) -> date:
        """The day on which it ended, where this program runs."""
        return self.events[-1].time.ToDatetime(UTC).astimezone().date()


def folder() -> Path:
    """Where finished games are kept."""
    return data_folder() / "games"


def kept(pattern: str = "*.jsonl") -> list[Path]:
    """The files of finished games whose names fit, oldest first; none where nobody may look."""
    try:
        return sorted(folder().glob(pattern), key=lambda path: path.stat().st_mtime)
    except OSError:
        return []


async def fetch(connection: Connection, table: str, game: int) -> SavedGame:
    """A game that is over, as its server tells it. Raises Refused or Unreachable."""
    async for one in finished_games(connection, table):
        if one.game == game:
            return one
    raise BadGameFile(_("Game {game} is not over.").format(game=game))


async def finished_games(connection: Connection, table: str) -> AsyncGenerator[SavedGame]:
    """Every game of a table that was played to its end, oldest first.

    Raises Refused or Unreachable.
    """
    answer = await connection.call(connection.table.GetView, play_pb2.GetViewRequest(table=table))
    view = TableView(answer.view.table, answer.view.log_id)
    header = table_pb2.TableView()
    game: list[event_pb2.Event] = []
    async for event in _events(connection, table):
        if event.HasField("game_started"):
            game, header = [], _header(view)
        try:
            view = fold(view, event_of(event))
        except NotUnderstoodError as error:
            raise Refused("", str(error)) from error
        game.append(event)
        if event.HasField("game_ended"):
            yield SavedGame(header, game)


def _header(before: TableView) -> table_pb2.TableView:
    """The table before a game, without the game before that."""
    return table_pb2.TableView(
        table=before.table,
        log_id=before.log_id,
        seq=before.seq,
        options=options_message(before.options),
        phase=table_pb2.TABLE_PHASE_WAITING,
        seats=map(seat_message, before.seats),
        commitment=b"" if before.rounds else before.commitment,
        source=(
            table_pb2.DealSource(commitment=before.commitment, rounds=before.rounds)
            if before.rounds
            else None
        ),
    )


async def _events(connection: Connection, table: str) -> AsyncGenerator[event_pb2.Event]:
    request = history_pb2.GetHistoryRequest(table=table, page_size=EVENTS_PER_PAGE)
    while True:
        page = await connection.call(connection.history.GetHistory, request)
        for event in page.events:
            yield event
        if not page.more or not page.events:
            return
        request.after_seq = page.events[-1].seq


def write(game: SavedGame, into: Path, day: date) -> Path:
    """Writes a game into a folder; gives the file. An older file of that name is replaced.

    Raises BadGameFile.
    """
    path = into / f"{day.isoformat()}-{game.view.table}-{game.game}.jsonl"
    header = {_HEADER: FORMAT, "view": json_format.MessageToDict(game.view)}
    objects = (header, *map(json_format.MessageToDict, game.events))
    try:
        private_folder(into)
        replace_file(path, "".join(chained(map(json.dumps, objects))))
    except OSError as error:
        raise BadGameFile(
            _("The game cannot be kept in {path}: {problem}.").format(
                path=into, problem=error.strerror
            )
        ) from error
    return path


def read(path: Path) -> SavedGame:
    """Reads a game; raises BadGameFile with the line that makes no sense or was changed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadGameFile(
            _("{path} cannot be read: {problem}.").format(path=path, problem=error.strerror)
        ) from error
    lines = data.split(b"\n")
    number = 1
    try:
        header = json.loads(lines[0])
        form = header[_HEADER]
        if form > FORMAT:
            raise BadGameFile(
                _("{path} was written by a newer odin-table.").format(path=path),
                _("Install the newest version."),
            )
        if form < 1:
            raise ValueError(f"there is no format {form}")
        is_chained = form > 1 or data.startswith(OPENING)
        if is_chained and (broken := broken_line(data)):
            raise BadGameFile(
                _("{path} was changed: line {number} is not as it was written.").format(
                    path=path, number=broken
                ),
                _("Where the file came from, there may be another copy."),
            )
        view = json_format.ParseDict(
            header["view"], table_pb2.TableView(), ignore_unknown_fields=True
        )
        events: list[event_pb2.Event] = []
        for number, line in enumerate(lines[1:], start=2):  # noqa: B007 -- told when it fails
            if line.strip():
                events.append(
                    json_format.Parse(line, event_pb2.Event(), ignore_unknown_fields=True)
                )
    except (*_UNREADABLE, json_format.ParseError) as error:
        raise BadGameFile(
            _("{path} is not the file of a game (line {number}).").format(path=path, number=number),
            _("Games that you have finished lie in {folder}.").format(folder=folder()),
        ) from error
    return SavedGame(view, events, form)


def find(name: str | None) -> Path:
    """The file that is meant: a path, the handle of a table, or (None) the newest game.

    Raises BadGameFile when there is none.
    """
    if name is not None and (os.sep in name or Path(name).exists()):
        return Path(name)
    pattern = "*.jsonl" if name is None else f"*-{handle_as_kept(name)}-*.jsonl"
    if found := kept(pattern):
        return found[-1]
    raise BadGameFile(
        _("No finished game was found.")
        if name is None
        else _("There is no file and no finished game called {name}.").format(name=name),
        _("Games that you have finished lie in {folder}.").format(folder=folder()),
    )
