r"""JSON mode: one JSON object per line on stdin and stdout, for a program in any language.

Each object has one key, which says what it is, and under it a message of the contract in
protobuf's own JSON mapping (field names in lowerCamelCase, enums by name, times as text).

On stdout:

    {"watchTable": {"snapshot": {...}}}      each WatchTableResponse of the stream, as it comes:
    {"watchTable": {"events": {...}}}        what happens arrives here and only here
    {"act": {"seq": 12}, "requestId": "a1"}  the answer to a call, in the order of the calls
    {"error": {"call": "act", "code": "FAILED_PRECONDITION", "reason": "ILLEGAL_ACTION",
               "message": "...", "metadata": {"rule": "R9", ...}}, "requestId": "a2"}
    {"link": {"online": false, "problem": "...", "attempt": 1, "retryIn": 0.3}}
    {"dealChecked": {"deal": 1, "ok": true, "faults": [], "gaps": [], "whole": true, "nonces": 2,
                     "seats": 3, "word": "K7QF2M", "weak": false, "mine": false,
                     "brokenOff": false, "notInFull": 0}}

On stdin: any call of the contract by the name of its method, with its request. `requestId` and
`table` are filled in when they are left out:

    {"act": {"decisionId": 11,
             "action": {"playCards": {"cards": ["CARD_B9"], "pickUp": "CARD_G4"}}}}
    {"setReady": {"ready": true}}            {"sendChat": {"text": "hello"}}
    {"startGame": {}}                        {"addBot": {"level": "hard"}}
    {"rematch": {}}                          {"leaveSeat": {}}

After each deal `dealChecked` says whether it follows from what the server had committed to. What
does not is in `faults`, and is said as soon as it is found. What could not be checked is in `gaps`
(`whole` is false when a part of the deal was not seen), and `notInFull` counts such deals. `ok`
says that all was checked. `nonces` of the `seats` had added bytes, and the `word` is the same for
all who were told the same: let players compare it. `weak` says that people played, and that the key
was stretched so little that a server could search. This program adds to each deal for the seat; one
that adds itself gives `setReady`, `rematch` or `giveNonce` a `nonce` and the `commitment`, both in
base64.

A decision that is open already stands in the snapshot (`snapshot.decision`), later ones come as
events (`decisionOpened`). A decision for one's own seat brings all that may be chosen, and a
default action that may be sent back as it is: no rules are needed. A line that is no such object is
answered by an error, and reading goes on; so is one with a name that the contract does not know,
such as "RED". Fields that it does not know are stepped over. After a broken line the stream resumes
by itself, and `link` says so; that the server renews a stream now and then is not told at all. The
program ends with the table, or at the end of stdin (whoever only watches watches on); the seat is
kept. When the host removes its seat it ends with 4.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, TextIO, cast

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass

from odin_cli.line.input_lines import InputLines
from odin_cli.line.output_lines import OutputLines
from odin_cli.line.side_by_side import until_first_ends
from odin_cli.speech.complaints import complaint
from odin_client.connection.connection import new_request_id
from odin_client.errors import Refused, Unreachable
from odin_client.session.session import Session
from odin_client.table.updates import DealChecked, DealGap, LinkChanged, SnapshotTaken
from odin_contract.json_form import JsonError, fill, parsed
from odin_table.v1 import chat_pb2, event_pb2, history_pb2, lobby_pb2, play_pb2

PATIENCE: Final = 120.0
"""Seconds without a server after which the program ends."""

_SERVICES: Final = (
    lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    play_pb2.DESCRIPTOR.services_by_name["PlayService"],
    chat_pb2.DESCRIPTOR.services_by_name["ChatService"],
    history_pb2.DESCRIPTOR.services_by_name["HistoryService"],
)

CALLS: Final = {
    f"{method.name[0].lower()}{method.name[1:]}": method
    for service in _SERVICES
    for method in service.methods
    if not method.server_streaming
}
"""Every call that answers once, by its name in JSON."""


class JsonMode:
    """A program at one table."""

    def __init__(
        self,
        session: Session,
        requests: TextIO,
        output: OutputLines,
        *,
        when_shown: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Reads from `requests` and writes to `output` once it runs.

        `when_shown` is called once, when the program has been shown the table.
        """
        self._when_shown = when_shown
        self._session: Final = session
        self._requests: Final = requests
        self._output: Final = output

    async def run(self) -> None:
        """Until the table has ended, or the input has.

        Whoever only watches watches on after its end. Raises what `Session.follow` raises.
        """
        await until_first_ends(self._follow(), self._serve())

    async def _follow(self) -> None:
        async for update in self._session.follow(tap=self._show_item, patience=PATIENCE):
            if isinstance(update, DealChecked):
                self._show({"dealChecked": _as_object(update)})
            elif isinstance(update, LinkChanged):
                link = {
                    "online": update.online,
                    "problem": update.problem,
                    "attempt": update.attempt,
                    "retryIn": round(update.retry_in, 3),
                }
                self._show({"link": link})
            elif isinstance(update, SnapshotTaken) and self._when_shown is not None:
                when_shown, self._when_shown = self._when_shown, None
                await when_shown()
            await self._output.room()

    def _show_item(self, item: play_pb2.WatchTableResponse) -> None:
        if item.stream_end.reason == event_pb2.STREAM_END_REASON_RENEW:
            return  # for the program the stream goes on
        self._show({"watchTable": MessageToDict(item)})

    def _show(self, value: dict[str, Any]) -> None:
        # Escaped, so that whoever looks at it in a terminal is safe from what others wrote.
        self._output.out(f"{json.dumps(value, separators=(',', ':'))}\n")

    async def _serve(self) -> None:
        lines = InputLines(self._requests)
        while (line := await lines.next()) is not None:
            if line.strip():
                self._show(await self._answer(line))
                await self._output.room()
        if self._session.table.my_seat is None:
            await asyncio.Event().wait()  # a watcher watches on

    def _fill_in(self, method: MethodDescriptor, fields: dict[str, Any]) -> str:
        """Adds the table and a request id where there are none; gives the request id."""
        known = method.input_type.fields_by_name
        if "table" in known:
            fields.setdefault("table", self._session.table.table)
        if "request_id" not in known:
            return ""
        if "request_id" not in fields:
            fields.setdefault("requestId", new_request_id())
        return str(fields.get("requestId") or fields.get("request_id"))

    async def _answer(self, line: str) -> dict[str, Any]:
        """The answer to one line of input, or the error."""
        try:
            call, fields = _read(line)
        except ValueError as error:
            return _error(Refused("MALFORMED", str(error), code="INVALID_ARGUMENT"), "", "")
        method = CALLS[call]
        request = GetMessageClass(method.input_type)()
        request_id = self._fill_in(method, fields)
        try:
            fill(request, fields)
        except JsonError as error:
            refusal = Refused("MALFORMED", str(error), code="INVALID_ARGUMENT")
            return _error(refusal, call, request_id)
        try:
            answer = await self._session.noting(
                request, self._session.connection.call_by_name(method, request)
            )
        except Refused as refusal:
            return _error(refusal, call, request_id)
        except Unreachable as problem:
            return _error(Refused("", complaint(problem), code="UNAVAILABLE"), call, request_id)
        return _labelled({call: MessageToDict(answer)}, request_id)


def _as_object(checked: DealChecked) -> dict[str, Any]:
    return {
        "deal": checked.deal,
        "ok": checked.in_full,
        "faults": [fault.value for fault in checked.faults],
        "gaps": [gap.value for gap in checked.gaps],
        "whole": DealGap.LATE not in checked.gaps and DealGap.MISSED not in checked.gaps,
        "nonces": checked.nonces,
        "seats": checked.seats,
        "word": checked.word,
        "weak": checked.weak,
        "mine": checked.mine,
        "brokenOff": checked.broken_off,
        "notInFull": checked.not_in_full,
    }


def _object(value: object) -> dict[str, Any]:
    """The value, when it is a JSON object; raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError('a line is an object with one key and an object in it: {"act": {...}}')
    return cast("dict[str, Any]", value)


def _read(line: str) -> tuple[str, dict[str, Any]]:
    """The call and the fields of its request; raises ValueError with what is wrong."""
    try:
        value = parsed(line)
    except JsonError as error:
        raise ValueError(f"this line makes no sense: {error}") from error
    items = list(_object(value).items())
    call, fields = items[0] if len(items) == 1 else ("", None)
    if call not in CALLS:
        raise ValueError(f"there is no call {call[:40]!r}; there are {', '.join(CALLS)}")
    return call, _object(fields)


def _error(refusal: Refused, call: str, request_id: str) -> dict[str, Any]:
    error = {
        "call": call,
        "code": refusal.code,
        "reason": refusal.reason,
        "message": refusal.message,
        "metadata": refusal.facts,
    }
    if refusal.field:
        error["field"] = refusal.field
    return _labelled({"error": error}, request_id)


def _labelled(answer: dict[str, Any], request_id: str) -> dict[str, Any]:
    return {**answer, "requestId": request_id} if request_id else answer
