"""The file of a finished game: JSON lines, whole, with every hand.

The first line is a header, `{"odinTableGame": 1, "view": TABLE}`, where TABLE is the contract's
`TableView` before the first event: the options, who sat where. Every further line is one `Event`
of the game as the history gives it. All of it in protobuf's own JSON mapping.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from pathlib import Path
from typing import Final

import platformdirs
from google.protobuf import json_format

from odin_client.connection import Connection
from odin_client.errors import ClientError
from odin_client.languages import _
from odin_client.state_folder import replace_file
from odin_table.v1 import event_pb2, history_pb2, play_pb2, table_pb2

FORMAT: Final = 1
"""Files of a later format are refused."""

_HEADER: Final = "odinTableGame"
_PAGE: Final = 1000


class BadGameFile(ClientError):
    """A file that holds no game, or cannot be read or written."""


@dataclass(frozen=True)
class SavedGame:
    """One finished game of a table."""

    view: table_pb2.TableView
    """The table before the first event."""
    events: Sequence[event_pb2.Event]

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
    return platformdirs.user_data_path("odin-table", appauthor=False) / "games"


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
    # Who sat where when a game began is not what the table looks like now.
    seats = [table_pb2.Seat(seat=number) for number in range(len(answer.view.seats))]
    game: list[event_pb2.Event] = []
    before = table_pb2.TableView()
    async for event in _events(connection, table):
        match event.WhichOneof("payload"):
            case "seat_taken":
                seats[event.seat_taken.seat.seat] = event.seat_taken.seat
            case "seat_left":
                number = event.seat_left.seat
                seats[number] = table_pb2.Seat(seat=number)
            case "game_started":
                game = []
                before = table_pb2.TableView(
                    table=answer.view.table,
                    log_id=answer.view.log_id,
                    seq=event.seq - 1,
                    options=answer.view.options,
                    phase=table_pb2.TABLE_PHASE_WAITING,
                    seats=seats,
                )
            case _:
                pass
        game.append(event)
        if event.HasField("game_ended"):
            yield SavedGame(before, game)


async def _events(connection: Connection, table: str) -> AsyncGenerator[event_pb2.Event]:
    request = history_pb2.GetHistoryRequest(table=table, page_size=_PAGE)
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
    lines = [json.dumps(one) for one in (header, *map(json_format.MessageToDict, game.events))]
    try:
        into.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise BadGameFile(
            _("The game cannot be kept in {path}: {problem}.").format(
                path=into, problem=error.strerror
            )
        ) from error
    return path


def read(path: Path) -> SavedGame:
    """Reads a game; raises BadGameFile with the line that makes no sense."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else str(error)
        raise BadGameFile(
            _("{path} cannot be read: {problem}.").format(path=path, problem=problem)
        ) from error
    number = 1
    try:
        header = json.loads(lines[0])
        if header[_HEADER] != FORMAT:
            raise BadGameFile(
                _("{path} was written by a newer odin-table.").format(path=path),
                _("Install the newest version."),
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
    except (ValueError, KeyError, IndexError, TypeError, json_format.ParseError) as error:
        raise BadGameFile(
            _("{path} is not the file of a game (line {number}).").format(path=path, number=number),
            _("Games that you have finished lie in {folder}.").format(folder=folder()),
        ) from error
    return SavedGame(view, events)


def find(name: str | None) -> Path:
    """The file that is meant: a path, the handle of a table, or (None) the newest game.

    Raises BadGameFile when there is none.
    """
    if name is not None and (os.sep in name or Path(name).exists()):
        return Path(name)
    pattern = "*.jsonl" if name is None else f"*-{name.upper()}-*.jsonl"
    kept = sorted(folder().glob(pattern), key=lambda path: path.stat().st_mtime)
    if kept:
        return kept[-1]
    raise BadGameFile(
        _("No finished game was found.")
        if name is None
        else _("There is no file and no finished game called {name}.").format(name=name),
        _("Games that you have finished lie in {folder}.").format(folder=folder()),
    )
