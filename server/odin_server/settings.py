"""Every option of the server, with its default."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import inf, isfinite
from pathlib import Path
from typing import Final

from odin_contract.limits import CHAT_LENGTH, NAME_LENGTH

DEFAULT_PORT: Final = 7711


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one caller may use. The defaults leave a household or a club alone in its network.

    A caller is a credential, or an address where it says so. Beyond a limit the answer is
    RATE_LIMITED with the name of the field as fact `limit`; it never hits the move of the seat that
    has to act.
    """

    message_bytes: int = 64 * 1024
    """The largest message that is read; a larger one is refused by gRPC itself."""
    name_characters: int = NAME_LENGTH
    """The longest name. The contract allows no more than the default."""
    chat_characters: int = CHAT_LENGTH
    """The longest line of chat. The contract allows no more than the default."""
    tables: int = 1_000
    """Tables that are open at the same time on this server."""
    tables_per_credential: int = 20
    """Open tables of one host."""
    tables_per_address: int = 200
    """Tables opened from one address that are still open."""
    seats_per_credential: int = 50
    """Seats at open tables that one credential holds."""
    seats_per_address: int = 500
    """Seats at open tables that were taken from one address."""
    streams_per_credential: int = 50
    """Streams that one credential has open."""
    streams_per_address: int = 1_000
    """Streams that are open from one address."""
    concurrent_calls: int = 20_000
    """Calls and streams that are open at the same time on this server; gRPC refuses more."""
    calls_per_second_per_credential: float = 100
    """Calls other than streams, on average; bursts of ten seconds' worth are let through."""
    calls_per_second_per_address: float = 1_000
    """The same for one address."""
    calls_for_a_deal: float = 50
    """As how many calls the start of a deal counts for whoever started it, when its key takes time:
    some 25 ms of a processor."""
    chat_lines_per_minute: float = 60
    """Lines of chat of one credential; bursts of ten are let through."""
    wrong_codes_per_minute: float = 10
    """Wrong codes of private tables from one address; bursts of ten are let through."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            _check(limit.name, getattr(self, limit.name), above=0)
        _check("name_characters", self.name_characters, above=0, most=NAME_LENGTH)
        _check("chat_characters", self.chat_characters, above=0, most=CHAT_LENGTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """Where the calls are served over HTTP as well, and for whom."""

    host: str
    """The address to listen on."""
    port: int
    """0: any free port."""
    page: Path | None = None
    """The folder of a page that is shown to browsers."""
    origins: tuple[str, ...] = ()
    """The origins of other pages that may call, such as https://example.org; "*": all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a server runs. Times are in seconds."""

    host: str = "127.0.0.1"
    """The address to listen on; loopback unless told."""
    port: int = DEFAULT_PORT
    """0: any free port."""
    http: Http | None = None
    """None: gRPC only."""
    store: Path | None = None
    """The file that keeps the tables. None: they live in memory."""
    seed: int | None = None
    """Makes the deals the same each time. None: from the system's source of randomness."""
    bot_delay: float = 0.6
    """How long a built-in bot or a substitute waits before it acts, so that people can follow."""
    bot_timeout: float = 5.0
    """How long a built-in bot may think before its default action is taken."""
    deal_pause: float = 15.0
    """After a deal, when the next one starts although somebody is not ready. From a second on only
    if a person is, so that no pause runs out before any of the people has answered."""
    away_budget: float = 120.0
    """How long the holder of a seat may be away, all times of a game together, before a substitute
    plays; and while no game is under way, at a time, before the seat is free."""
    empty_after: float = 120.0
    """How long a table may be without people before it ends."""
    until_empty: bool = False
    """Whether the server stops when its last table has ended."""
    ended_in_memory: int = 100
    """How many tables that have ended stay in memory; others are read again when needed."""
    unplayed_kept: float = 600.0
    """How long a table that ended before its first game can still be read."""
    ended_kept: float = 0.0
    """How long a table that has ended can still be read, if it was played at. 0: for ever."""
    names_kept: float = 0.0
    """How long the names and the chat of a table that has ended are kept. 0: as the table."""
    heartbeat: float = 5.0
    """A stream on which nothing was sent for this long gets a heartbeat. At most 10."""
    keepalive: float = 15.0
    """A client from which nothing came for this long is asked whether it lives."""
    keepalive_timeout: float = 10.0
    """How long it may take to answer, before its line counts as broken. Both together: how long a
    silent line goes unnoticed."""
    stream_life_least: float = 1_800.0
    """A stream ends after this long at the least, for its client to open another one."""
    stream_life_most: float = 3_600.0
    """And after this long at the most: chance decides, so that not all come at the same time."""
    renewal_grace: float = 5.0
    """How long a viewer whose stream ended for that reason counts as present without a new one."""
    batch_events: int = 128
    """The most events in one message of a stream."""
    snapshot_after: int = 1_024
    """A viewer that is more events behind gets a snapshot instead."""
    drain_retry_after: float = 2.0
    """When clients are told to come back after this server stops."""
    drain_grace: float = 3.0
    """How long calls under way may take to finish when this server stops."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        _check("heartbeat", self.heartbeat, above=0, most=10)
        for name in (
            "bot_timeout",
            "keepalive",
            "keepalive_timeout",
            "stream_life_least",
            "batch_events",
            "snapshot_after",
        ):
            _check(name, getattr(self, name), above=0)
        if self.stream_life_most < self.stream_life_least:
            raise ValueError("stream_life_most has to be stream_life_least or more.")
        for name in (
            "bot_delay",
            "deal_pause",
            "away_budget",
            "empty_after",
            "stream_life_most",
            "renewal_grace",
        ):
            _check(name, getattr(self, name))
        for name in ("ended_in_memory", "unplayed_kept", "ended_kept", "names_kept"):
            _check(name, getattr(self, name))
        for name in ("drain_retry_after", "drain_grace"):
            _check(name, getattr(self, name))


def _check(name: str, value: float, *, above: int | None = None, most: float = inf) -> None:
    """Raises ValueError for a value below 0, or not above `above`, or over `most`; or no number."""
    if not isfinite(value) or value < 0 or value > most or (above is not None and value <= above):
        least = "0 or more" if above is None else f"more than {above}"
        limit = "" if most == inf else f", and at most {most}"
        raise ValueError(f"{name} has to be {least}{limit}.")
