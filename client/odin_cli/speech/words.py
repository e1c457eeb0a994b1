"""Small parts of sentences: cards, counts, lists, how long something takes, when a game ends."""

from __future__ import annotations

from collections.abc import Iterable

from odin_cli.speech.languages import _, ngettext, translated
from odin_client.table.model import TableModel
from odin_contract.values import Options
from odin_engine import Card, Colour


def colour_name(colour: Colour) -> str:
    """`blue`."""
    match colour:
        case Colour.RED:
            return _("red")
        case Colour.ORANGE:
            return _("orange")
        case Colour.YELLOW:
            return _("yellow")
        case Colour.GREEN:
            return _("green")
        case Colour.BLUE:
            return _("blue")
        case Colour.VIOLET:
            return _("violet")


def card_name(card: Card) -> str:
    """`blue 9`."""
    return _("{colour} {number}").format(colour=colour_name(card.colour), number=card.number)


def seat_name(table: TableModel, seat: int) -> str:
    """The name at a seat."""
    return translated(table.name_of(seat))


def player_name(table: TableModel, seat: int) -> str:
    """Who plays the game at a seat, or has played it."""
    return translated(table.player_name(seat))


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    return _joined(words, _("and"))


def alternatives(words: Iterable[str]) -> str:
    """`a, b or c`."""
    return _joined(words, _("or"))


def _joined(words: Iterable[str], last: str) -> str:
    words = list(words)
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def cards_named(cards: Iterable[Card]) -> str:
    """`blue 9, blue 6 and blue 1`."""
    return listed(map(card_name, cards))


def cards_counted(count: int) -> str:
    """`1 card`, `2 cards`."""
    return ngettext("{count} card", "{count} cards", count).format(count=count)


def points_counted(count: int) -> str:
    """`1 point`, `2 points`."""
    return ngettext("{count} point", "{count} points", count).format(count=count)


def ending(options: Options) -> str:
    """When the game ends (R16)."""
    if options.threshold is None:
        return _("a single deal")
    return _("to {threshold} points").format(threshold=options.threshold)


def span(seconds: int) -> str:
    """`45 seconds`, `10 minutes`, `1 minute 30 seconds`."""
    minutes, rest = divmod(seconds, 60)
    parts: list[str] = []
    if minutes:
        parts.append(ngettext("{count} minute", "{count} minutes", minutes).format(count=minutes))
    if rest or not minutes:
        parts.append(ngettext("{count} second", "{count} seconds", rest).format(count=rest))
    return " ".join(parts)


def clock(options: Options) -> str:
    """How long a seat may think: `45 seconds a turn and a bank of 10 minutes`, or nothing."""
    if not options.turn_time:
        return ""
    time = span(options.turn_time)
    if not options.bank:
        return _("{time} a turn").format(time=time)
    return _("{time} a turn and a bank of {bank}").format(time=time, bank=span(options.bank))


def terms(options: Options) -> str:
    """When the game ends, and how long a seat may think."""
    return ", ".join(filter(None, (ending(options), clock(options))))
