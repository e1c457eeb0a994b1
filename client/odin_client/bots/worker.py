"""The process in which bots choose: `python -m odin_client.bots.worker`, started by `bots.process`.

It does one thing at a time, in its main thread, and has no thread of its own beside that: so a bot
may fork, use pools, and set timers, as in any program. What it is asked comes through a socket that
is its stdin and stdout at the start and is moved away before any code of a bot runs; then stdin is
empty, and what is printed goes to stderr.

Runner and worker send each other pickles, each after its length in four bytes. First `Order` goes
in and a BadStrategy comes back, or None when all bots are made. Then each `Question` goes in, and
what was chosen comes back, until the runner closes the socket.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import select
import signal
import socket
from pathlib import Path
from typing import Any, Final, NamedTuple

from odin_client.bots import BadStrategy, Bot, make_bot
from odin_client.bots.choices import choose
from odin_engine import View

LENGTH: Final = 4
"""Bytes of the length before each pickle; the highest byte first."""


class Order(NamedTuple):
    """Which bots to make."""

    strategy: str
    """`module:Class`."""
    seats: int
    seed: int | None


class Question(NamedTuple):
    """Which bot is to choose, and what it sees."""

    seat: int
    view: View


def packed(value: object) -> bytes:
    """The value as it is sent."""
    content = pickle.dumps(value)
    return len(content).to_bytes(LENGTH) + content


class _Channel:
    """The way to the runner, which nothing that a bot starts has as well."""

    def __init__(self) -> None:
        """Takes stdin and stdout away from whatever runs here."""
        self._socket: Final = socket.socket(fileno=os.dup(0))
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        _watch_over(self._socket)
        os.register_at_fork(after_in_child=self._socket.close)

    def receive(self) -> Any:
        """The next value; None when the runner has closed the socket."""
        length = int.from_bytes(self._bytes(LENGTH))
        return pickle.loads(self._bytes(length)) if length else None

    def send(self, value: object) -> None:
        """Raises OSError when the runner has gone."""
        self._socket.sendall(packed(value))

    def _bytes(self, count: int) -> bytes:
        received = b""
        while len(received) < count and (some := self._socket.recv(count - len(received))):
            received += some
        return received if len(received) == count else b""


def _watch_over(channel: socket.socket) -> None:
    """Starts a child that ends the process group when the runner has gone, or this process.

    A thread would not do: code that does not give the interpreter back would stop it as well.
    """
    lives, ends_with_this = socket.socketpair()
    if os.fork():
        lives.close()
        # Otherwise what a bot has started would seem to be this process.
        os.register_at_fork(after_in_child=ends_with_this.close)
        return
    ends_with_this.close()
    poll = select.poll()
    for end in (channel, lives):
        poll.register(end, 0)  # only for its end: what arrives is not for this process
    poll.poll()
    os.killpg(0, signal.SIGKILL)


def _made(order: Order) -> list[Bot] | BadStrategy:
    """The bots, one for each seat."""
    random.seed(order.seed)  # for bots that do not use their own `rng`
    try:
        return [
            # The first has the randomness that it has outside of a worker.
            make_bot(
                order.strategy,
                order.seed if seat == 0 or order.seed is None else f"{order.seed}/{seat}",
            )
            for seat in range(order.seats)
        ]
    except BadStrategy as error:
        return error


def main() -> None:
    """Makes bots and lets them choose, until the runner has gone."""
    channel = _Channel()
    # Nobody listens any more, or this is a child that a bot has forked and not ended.
    with contextlib.suppress(OSError):
        _serve(channel)


def _serve(channel: _Channel) -> None:
    order: Order | None = channel.receive()
    if order is None:
        return
    bots = _made(order)
    if isinstance(bots, BadStrategy):
        channel.send(bots)
        return
    channel.send(None)
    asked: Question | None
    while (asked := channel.receive()) is not None:
        channel.send(choose(bots[asked.seat], asked.view))


if __name__ == "__main__":
    main()
