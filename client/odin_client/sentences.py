"""Plain English: one sentence per update, and the state of a table in words.

Line mode, the log of the full-screen client and the reports of bots all take their words from
here. Colours are written out, for people who listen to a screen reader. An update about which
there is nothing to say gives None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from odin_client.table import TableModel
from odin_client.updates import (
    BotFailed,
    CardPickedUp,
    CardsPlayed,
    ChatSaid,
    DeadlineMoved,
    DealEnded,
    DealStarted,
    GameEnded,
    GameStarted,
    HostChanged,
    LinkChanged,
    Passed,
    ReadyChanged,
    RematchAsked,
    RoundEnded,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    StreamEnded,
    SubstituteSeated,
    TableClosed,
    TableOpened,
    Update,
)
from odin_client.values import (
    Actor,
    CloseReason,
    Decision,
    DecisionKind,
    Game,
    LeaveReason,
    LegalPlay,
    Occupant,
    Options,
    Phase,
    Seat,
    StreamEndReason,
)
from odin_engine import Card

# Small parts


def card_name(card: Card) -> str:
    """`blue 9`."""
    return f"{card.colour.name.lower()} {card.number}"


def listed(words: Iterable[str], last: str = "and") -> str:
    """`a, b and c`."""
    words = list(words)
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def cards_named(cards: Iterable[Card], last: str = "and") -> str:
    """`blue 9, blue 6 and blue 1`."""
    return listed(map(card_name, cards), last)


def counted(count: int, noun: str) -> str:
    """`1 card`, `2 cards`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def ending(options: Options) -> str:
    """When the game ends (R16)."""
    if options.threshold is None:
        return "a single deal"
    return f"to {options.threshold} points"


class _Names:
    """Who is who, from the viewer's side."""

    def __init__(self, table: TableModel) -> None:
        self._table = table

    def __call__(self, seat: int) -> str:
        return "You" if seat == self._table.my_seat else self._table.name_of(seat)

    def within(self, seat: int) -> str:
        """Inside a sentence."""
        return "you" if seat == self._table.my_seat else self._table.name_of(seat)

    def verb(self, seat: int, for_others: str, for_you: str) -> str:
        """`Bob opens`, `You open`."""
        return f"{self(seat)} {for_you if seat == self._table.my_seat else for_others}"

    def _possessive(self, seat: int) -> str:
        return "Your" if seat == self._table.my_seat else f"{self._table.name_of(seat)}'s"

    def acting(self, seat: int, actor: Actor) -> str:
        """Who did it, when it was not whoever holds the seat."""
        match actor:
            case Actor.SUBSTITUTE:
                return f"{self._possessive(seat)} substitute"
            case Actor.CLOCK:
                # Only of a bot, or of whoever plays for somebody, can it be that it failed.
                person = self._table.seats[seat].occupant is Occupant.PERSON
                return f"{'Time was up:' if person else 'By default'} {self.within(seat)}"
            case _:
                return self(seat)


# What happened


def sentence(update: Update, table: TableModel) -> str | None:
    """What an update says; `table` has it already. None when there is nothing to say."""
    name = _Names(table)
    match update:
        case ChatSaid(line):
            return f"{line.name} says: {line.text}"
        case LinkChanged():
            return link_sentence(update)
        case StreamEnded():
            return _stream_ended(update)
        case CardsPlayed():
            return _cards_played(update, name)
        case CardPickedUp():
            discarded = cards_named(update.discarded)
            were = "were" if len(update.discarded) > 1 else "was"
            rest = f"; {discarded} {were} discarded" if discarded else ""
            return f"{name.acting(update.seat, update.actor)} took {card_name(update.card)}{rest}."
        case Passed():
            return f"{name.acting(update.seat, update.actor)} passed."
        case RoundEnded():
            return f"The round is over. {name.verb(update.opener, 'opens', 'open')} the next one."
        case DealStarted():
            opens = name.verb(update.opener, "opens", "open")
            return f"Deal {update.deal} starts: nine cards each. {opens}."
        case DealEnded():
            return _deal_ended(update, name)
        case GameStarted():
            return _game_started(update, table, name)
        case GameEnded():
            return _outcome(update.winners, table, name)
        case _:
            return _at_the_table(update, name) or _coming_and_going(update, name)


def _coming_and_going(update: Update, name: _Names) -> str | None:
    match update:
        case SeatTaken():
            kind = _in_brackets(update.seat, with_state=False)
            if update.instead_of:
                return f"{name(update.seat.seat)}{kind} plays on for {update.instead_of}."
            return f"{name(update.seat.seat)} sat down{kind}."
        case SeatLeft():
            match update.reason:
                case LeaveReason.AWAY:
                    return f"{update.name} stayed away and lost the seat."
                case LeaveReason.REMOVED:
                    return f"{update.name} was removed."
                case _:
                    return f"{update.name} left."
        case HostChanged():
            if update.seat is None:
                return None
            return f"{name.verb(update.seat, 'is', 'are')} the host now."
        case SubstituteSeated():
            why = "stayed away" if update.reason is LeaveReason.AWAY else "left"
            return f"{name(update.seat)} {why}; a substitute ({update.level}) plays on."
        case SeatResumed():
            return f"{name.verb(update.seat, 'is', 'are')} back."
        case _:
            return None


def _at_the_table(update: Update, name: _Names) -> str | None:
    match update:
        case TableOpened():
            return "The table was opened."
        case ReadyChanged():
            state = "ready" if update.ready else "no longer ready"
            return f"{name.verb(update.seat, 'is', 'are')} {state}."
        case RematchAsked():
            return f"{name.verb(update.seat, 'wants', 'want')} another game."
        case DeadlineMoved():
            seconds = counted(max(1, round(update.given_back.total_seconds())), "second")
            return f"Nobody could act for {seconds}; that time is given back."
        case BotFailed():
            return f"The bot {name.within(update.seat)} failed: {update.problem}."
        case TableClosed():
            why = "the host closed it" if update.reason is CloseReason.HOST else "nobody was left"
            return f"The table has ended: {why}."
        case _:
            return None


def link_sentence(link: LinkChanged) -> str:
    """The state of the line to the server."""
    if link.online:
        return "Connected again."
    return (
        f"Connection lost ({link.problem}). Your seat is kept; "
        f"attempt {link.attempt} in {link.retry_in:.0f} s."
    )


def _stream_ended(update: StreamEnded) -> str | None:
    if update.reason is StreamEndReason.SUPERSEDED:
        return "This seat is being played from elsewhere now."
    return None


def _kind_of(seat: Seat) -> list[str]:
    match seat.occupant:
        case Occupant.BUILT_IN_BOT:
            return ["bot", seat.level]
        case Occupant.REMOTE_BOT:
            return ["bot"]
        case _:
            return []


def _in_brackets(seat: Seat, *, with_state: bool = True) -> str:
    words = [*_kind_of(seat), *(["ready"] if with_state and seat.ready else [])]
    return f" ({', '.join(words)})" if words else ""


def _cards_played(update: CardsPlayed, name: _Names) -> str:
    who = name.acting(update.seat, update.actor)
    verb = "opened with" if update.opening else "played"
    what = f"{update.set.value}: {cards_named(update.set.cards)}"
    if update.set.count == 1:
        what = card_name(update.set.cards[0])
    if update.card_count == 0:
        return f"{who} {verb} {what}, and went out."
    return f"{who} {verb} {what}."


def _deal_ended(update: DealEnded, name: _Names) -> str:
    scores = "; ".join(
        f"{name.within(score.seat)} {score.penalty}"
        f"{f' ({cards_named(score.remaining)})' if score.remaining else ''}, total {score.total}"
        for score in update.scores
    )
    return f"Deal {update.deal} is over. {name(update.out_seat)} went out. Penalties: {scores}."


def _game_started(update: GameStarted, table: TableModel, name: _Names) -> str:
    players = listed(name.within(seat) for seat in update.seats)
    without = listed(colour.name.lower() for colour in update.removed)
    deck = f", without {without}" if without else ""
    return f"Game {update.game} starts, {ending(table.options)}{deck}: {players}."


def _outcome(winners: Sequence[int], table: TableModel, name: _Names) -> str:
    total = 0
    if table.game and winners:
        total = table.game.player(winners[0]).total
    points = counted(total, "point")
    if len(winners) > 1:
        shared = listed(name.within(seat) for seat in winners)
        return f"The game is over. Victory is shared with {points} by {shared}."
    won = listed(name.verb(seat, "wins", "win") for seat in winners)
    return f"The game is over. {won} with {points}."


# How things stand


def hand_sentence(hand: Sequence[Card]) -> str:
    """The own hand."""
    if not hand:
        return "You hold no cards."
    return f"Hand, {counted(len(hand), 'card')}: {', '.join(map(card_name, hand))}."


def centre_sentence(table: TableModel) -> str:
    """The set to beat (R7); or that there is none, since nothing is being played."""
    game = table.game
    if game is None or game.deal == 0 or table.phase is Phase.WAITING:
        return waiting_sentence(table)
    if game.winners:
        return _outcome(game.winners, table, _Names(table))
    if game.centre is None:
        return "Table: empty."
    by = "" if game.centre_seat is None else f", by {_Names(table).within(game.centre_seat)}"
    return f"Table: {game.centre.value}, {cards_named(game.centre.cards)}{by}."


def waiting_sentence(table: TableModel) -> str:
    """Who sits at a table that waits."""
    seats = listed(
        f"{_Names(table).within(seat.seat)}{_in_brackets(seat)}" for seat in table.taken_seats
    )
    free = len(table.seats) - len(table.taken_seats)
    return (
        f"Table {table.table} waits, {ending(table.options)}. "
        f"At the table: {seats or 'nobody'}. {counted(free, 'free seat')}."
    )


def turn_sentence(table: TableModel, decision: Decision) -> str:
    """What the viewer has to decide now."""
    centre = table.game.centre if table.game else None
    match decision.kind:
        case DecisionKind.PICK_UP:
            return f"Your turn. Take {cards_named(decision.pick_ups, 'or')}."
        case DecisionKind.RESPOND if centre is not None:
            if not decision.plays:
                return "Your turn. You can play nothing: pass."
            counts = f"{centre.count} or {counted(centre.count + 1, 'card')}"
            return f"Your turn. Play {counts} above {centre.value}, or pass."
        case DecisionKind.OPEN:
            whole = any(play.set.count > 1 for play in decision.plays)
            return f"Your turn. Open with one card{', or with your whole hand' if whole else ''}."
        case _:
            return "Your turn."


def players_sentences(table: TableModel) -> list[str]:
    """Every player: cards, points, and whether they passed."""
    game = table.game
    if game is None:
        return [waiting_sentence(table)]
    name = _Names(table)
    turn = table.decision.seat if table.decision else None
    return [
        f"{name(p.seat)}: {counted(p.card_count, 'card')}, {counted(p.total, 'point')}"
        f"{', passed' if p.passed else ''}{', to act' if p.seat == turn else ''}."
        for p in game.players
    ]


def scores_sentences(table: TableModel) -> list[str]:
    """The penalties of each deal and the totals, best first."""
    game = table.game
    if game is None or not any(player.penalties for player in game.players):
        return [f"No deal is over yet. The game goes {ending(table.options)}."]
    name = _Names(table)
    lines = [
        f"{name(p.seat)}: {' + '.join(map(str, p.penalties))} = {counted(p.total, 'point')}."
        for p in sorted(game.players, key=lambda p: p.total)
    ]
    return [*lines, _standing(table, game)]


def _standing(table: TableModel, game: Game) -> str:
    name = _Names(table)
    if game.winners:
        return f"Won by {listed(name.within(seat) for seat in game.winners)}."
    return f"The game goes {ending(table.options)}."


def next_sentence(table: TableModel) -> str | None:
    """What a seat can do when nothing is being played."""
    ready = table.me is not None and table.me.ready
    match table.phase:
        case Phase.WAITING if table.i_am_host:
            return "Say `start` when everybody is here, or `ready`."
        case Phase.WAITING | Phase.BETWEEN_DEALS if not ready:
            return "Say `ready` to go on."
        case Phase.GAME_OVER:
            return "Say `rematch` for another game, or `quit`."
        case _:
            return None


def play_line(play: LegalPlay) -> str:
    """A legal play as it may be typed: `961: B9 B6 B1`."""
    return f"{play.set.value}: {play.set}{', goes out' if play.goes_out else ''}"
