"""A deal that anybody can check: what follows from 32 secret bytes and the seats' nonces.

The server publishes `commitment(secret, rounds)` before it accepts a nonce, and the secret when the
deal is over. Everything that chance decides in a deal follows from the secret, the nonces and the
number of the deal, by the procedure that docs/fair-deal.md specifies to the byte. This module is
that procedure; it draws no random number itself.

There are two forms. In `deal/2` the key of a deal is stretched by rounds of PBKDF2, so that a
server cannot try many nonces; in `deal/1`, the first form, it is not. `rounds` is 0 for `deal/1`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from odin_engine.cards import Card, Colour, deck

SECRET_LENGTH: Final = 32
"""Bytes of the server's secret."""
MAX_NONCE_LENGTH: Final = 32
"""The most bytes that a seat's nonce may have. A seat that gives none has the empty nonce."""

ROUNDS: Final = 100_000
"""Rounds for the key of a deal that a person plays in. Fewer are worth a warning."""
MAX_ROUNDS: Final = 1_000_000
"""More rounds than that are not computed."""
WORD_LENGTH: Final = 6
"""Letters of `word`."""

_COMMIT: Final = b"odin-table/commit/1\n"
_DEAL: Final = b"odin-table/deal/1\n"
_COMMIT_2: Final = b"odin-table/commit/2\n"
_DEAL_2: Final = b"odin-table/deal/2\n"
_WORD: Final = b"odin-table/word/1\n"
CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Letters and digits that are hard to confuse, for what people read out and type."""


@dataclass(frozen=True, slots=True)
class FirstDraw:
    """What chance decides once in a game, before the first deal."""

    first_opener: int
    """The player who opens the first deal, from 0 (R4)."""
    removed: tuple[Colour, ...]
    """The two colours that leave the deck, or none (R2), in colour order."""


def commitment(secret: bytes, rounds: int = 0) -> bytes:
    """The 32 bytes that the server publishes first.

    `rounds` are those for people, which it binds as well; 0 for `deal/1`. Raises ValueError for a
    secret of the wrong length, or rounds that four bytes do not hold.
    """
    _check_secret(secret)
    if not rounds:
        return hashlib.sha256(_COMMIT + secret).digest()
    return hashlib.sha256(_COMMIT_2 + _u32(rounds) + secret).digest()


def key_rounds(rounds: int, *, has_person: bool) -> int:
    """The rounds of a deal's key, when these were committed to: 1 when no person plays in it."""
    return rounds if has_person else min(rounds, 1)


def draw_first(
    secret: bytes, nonces: Sequence[bytes], *, short_deck: bool, rounds: int = 0
) -> tuple[FirstDraw, tuple[Card, ...]]:
    """The first deal of a game: who opens, which colours leave, and the shuffled order.

    One nonce per player, in the order of their seats. The short deck is for two players (R2).
    `rounds`: see `key_rounds`. Raises ValueError for a secret or nonce of the wrong length, or more
    than MAX_ROUNDS.
    """
    draws = _Draws(secret, nonces, 1, rounds)
    first_opener = draws.below(len(nonces))
    removed: list[Colour] = []
    if short_deck:
        colours = list(Colour)
        removed = [colours.pop(draws.below(len(colours))) for _ in range(2)]
    in_order = tuple(colour for colour in Colour if colour in removed)
    return FirstDraw(first_opener, in_order), draws.shuffled(deck(in_order))


def draw_deal(
    secret: bytes,
    nonces: Sequence[bytes],
    *,
    deal_number: int,
    removed: Sequence[Colour],
    rounds: int = 0,
) -> tuple[Card, ...]:
    """The shuffled order of a later deal, numbered from 2.

    `rounds`: see `key_rounds`. Raises ValueError for a secret or nonce of the wrong length, a deal
    number below 2, or more than MAX_ROUNDS.
    """
    if deal_number < 2:
        raise ValueError("The first deal of a game is drawn by draw_first.")
    return _Draws(secret, nonces, deal_number, rounds).shuffled(deck(removed))


def word(commitment: bytes, seats: Sequence[int], nonces: Sequence[bytes]) -> str:
    """Six letters that players can compare aloud: the same for all who saw the same deal promised.

    The seats of the players, in order, and what each added.
    """
    message = bytearray(_WORD + commitment)
    message.append(len(seats))
    for seat, nonce in zip(seats, nonces, strict=True):
        message += bytes((seat, len(nonce))) + nonce
    bits = int.from_bytes(hashlib.sha256(message).digest()[:4], "big") >> 2
    return "".join(CROCKFORD[bits >> 5 * place & 31] for place in reversed(range(WORD_LENGTH)))


def _u32(number: int) -> bytes:
    if not 0 <= number < 1 << 32:
        raise ValueError(f"{number} does not fit into four bytes.")
    return number.to_bytes(4, "big")


def _check_secret(secret: bytes) -> None:
    if len(secret) != SECRET_LENGTH:
        raise ValueError(f"A secret has {SECRET_LENGTH} bytes, not {len(secret)}.")


class _Draws:
    """Numbers without bias, drawn in order from one secret, the nonces and the deal's number."""

    def __init__(self, secret: bytes, nonces: Sequence[bytes], deal: int, rounds: int) -> None:
        _check_secret(secret)
        if not 0 <= rounds <= MAX_ROUNDS:
            raise ValueError(f"A key has at most {MAX_ROUNDS} rounds, not {rounds}.")
        message = bytearray(_DEAL_2 if rounds else _DEAL)
        message += _u32(deal)
        message.append(len(nonces))
        for nonce in nonces:
            if len(nonce) > MAX_NONCE_LENGTH:
                raise ValueError(f"A nonce has at most {MAX_NONCE_LENGTH} bytes, not {len(nonce)}.")
            message.append(len(nonce))
            message += nonce
        if rounds:
            key = hashlib.pbkdf2_hmac("sha256", secret, bytes(message), rounds)
        else:
            key = hmac.digest(secret, message, "sha256")
        self._bytes = _expand(key)

    def below(self, bound: int) -> int:
        """The next number from 0 to bound - 1, for a bound up to 256.

        A byte beyond the last whole multiple of the bound is thrown away: without that the low
        numbers would come up more often.
        """
        fair = 256 - 256 % bound
        return next(byte for byte in self._bytes if byte < fair) % bound

    def shuffled(self, cards: Sequence[Card]) -> tuple[Card, ...]:
        """The cards in an order in which each is as likely as any other (Fisher and Yates)."""
        order = list(cards)
        for last in range(len(order) - 1, 0, -1):
            chosen = self.below(last + 1)
            order[last], order[chosen] = order[chosen], order[last]
        return tuple(order)


def _expand(key: bytes) -> Iterator[int]:
    """The bytes of HMAC-SHA256(key, 0), HMAC-SHA256(key, 1), ..., the counter in four bytes."""
    block = 0
    while True:
        yield from hmac.digest(key, block.to_bytes(4, "big"), "sha256")
        block += 1
