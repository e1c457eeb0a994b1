"""Plain sentences: one per update, and the state of a table in words.

Line mode, the log of the full-screen client and the reports of bots all take their words from
here. Colours are written out, for people who listen to a screen reader. An update about which
there is nothing to say gives None.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from odin_cli.speech.check_sentence import check_sentence
from odin_cli.speech.languages import _, ngettext, translated
from odin_cli.speech.words import (
    alternatives,
    card_name,
    cards_counted,
    cards_named,
    colour_name,
    ending,
    listed,
    player_name,
    points_counted,
    seat_name,
    span,
    terms,
)
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, LinkChanged, Update
from odin_contract.enums import (
    Actor,
    CloseReason,
    LeaveReason,
    Occupant,
    Phase,
    StreamEndReason,
)
from odin_contract.events import (
    BotFailed,
    CardPickedUp,
    CardsPlayed,
    ChatSaid,
    DeadlineMoved,
    DealEnded,
    DealScore,
    DealStarted,
    GameEnded,
    GameStarted,
    HostChanged,
    Passed,
    PresenceChanged,
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
)
from odin_contract.values import Decision, LegalPlay, Seat
from odin_engine import Card, DecisionKind


class _Names:
    """Who is who, from the viewer's side."""

    def __init__(self, table: TableModel) -> None:
        self._table = table

    def _is_me(self, seat: int) -> bool:
        return seat == self._table.my_seat

    def _of(self, seat: int) -> str:
        return seat_name(self._table, seat)

    def __call__(self, seat: int) -> str:
        return _("You") if self._is_me(seat) else self._of(seat)

    def within(self, seat: int) -> str:
        """Inside a sentence."""
        return _("you") if self._is_me(seat) else self._of(seat)

    def tell(
        self,
        seat: int,
        mine: str,
        others: str,
        *,
        actor: Actor = Actor.PERSON,
        **facts: object,
    ) -> str:
        """What a seat did: `mine` when the viewer did it, else `others`, which says {who}."""
        name = self._of(seat)
        if actor is Actor.SUBSTITUTE:
            own = self._is_me(seat)
            who = _("Your substitute") if own else _("{name}'s substitute").format(name=name)
            return others.format(who=who, **facts)
        said = mine.format(**facts) if self._is_me(seat) else others.format(who=name, **facts)
        if actor is not Actor.CLOCK:
            return said
        # Only of a bot, or of whoever plays for somebody, can it be that it failed.
        taken = self._table.seats[seat]
        person = taken.occupant is Occupant.PERSON and not taken.substituted
        late = _("Time was up: {sentence}") if person else _("By default: {sentence}")
        return late.format(sentence=said)


class _PlayerNames(_Names):
    """Who is who in the game, whoever sits there now."""

    def _is_me(self, seat: int) -> bool:
        return self._table.played_by_me(seat)

    def _of(self, seat: int) -> str:
        return player_name(self._table, seat)


# What happened


def sentence(update: Update, table: TableModel) -> str | None:
    """What an update says; `table` has it already. None when there is nothing to say."""
    name = _Names(table)
    match update:
        case ChatSaid(line):
            return _("{name} says: {text}").format(name=line.name, text=line.text)
        case LinkChanged():
            return link_sentence(update)
        case StreamEnded(reason=StreamEndReason.SUPERSEDED):
            return _("This seat is being played from elsewhere now.")
        case CardsPlayed():
            return _cards_played(update, name)
        case CardPickedUp():
            return _picked_up(update, name)
        case Passed():
            return name.tell(update.seat, _("You passed."), _("{who} passed."), actor=update.actor)
        case RoundEnded():
            return name.tell(
                update.opener,
                _("The round is over. You open the next one."),
                _("The round is over. {who} opens the next one."),
            )
        case DealStarted():
            return name.tell(
                update.opener,
                _("Deal {deal} starts: nine cards each. You open."),
                _("Deal {deal} starts: nine cards each. {who} opens."),
                deal=update.deal,
            )
        case DealEnded():
            return _deal_ended(update, name)
        case GameStarted():
            return _game_started(update, table, name)
        case GameEnded():
            return _outcome(update.winners, table)
        case _:
            return _at_the_table(update, table, name) or _coming_and_going(update, table, name)


def _coming_and_going(update: Update, table: TableModel, name: _Names) -> str | None:
    match update:
        case PresenceChanged():
            return " ".join(presence_sentences(update, table)) or None
        case SeatTaken():
            kind = _in_brackets(update.seat, with_state=False)
            if update.instead_of:
                return name.tell(
                    update.seat.seat,
                    _("You play on for {name}{kind}."),
                    _("{who}{kind} plays on for {name}."),
                    kind=kind,
                    name=translated(update.instead_of),
                )
            return name.tell(
                update.seat.seat,
                _("You sat down{kind}."),
                _("{who} sat down{kind}."),
                kind=kind,
            )
        case SeatLeft():
            match update.reason:
                case LeaveReason.AWAY:
                    said = _("{who} stayed away and lost the seat.")
                case LeaveReason.REMOVED:
                    said = _("{who} was removed.")
                case _:
                    said = _("{who} left.")
            return said.format(who=translated(update.name))
        case HostChanged():
            if update.seat is None:
                return None
            return name.tell(update.seat, _("You are the host now."), _("{who} is the host now."))
        case SubstituteSeated(reason=LeaveReason.AWAY):
            return name.tell(
                update.seat,
                _("You stayed away; a substitute ({level}) plays on."),
                _("{who} stayed away; a substitute ({level}) plays on."),
                level=update.level,
            )
        case SubstituteSeated():
            return name.tell(
                update.seat,
                _("You left; a substitute ({level}) plays on."),
                _("{who} left; a substitute ({level}) plays on."),
                level=update.level,
            )
        case SeatResumed():
            return name.tell(update.seat, _("You are back."), _("{who} is back."))
        case _:
            return None


def _at_the_table(update: Update, table: TableModel, name: _Names) -> str | None:
    match update:
        case TableOpened():
            return _("The table was opened.")
        case ReadyChanged(seat=seat) if table.seats[seat].occupant is not Occupant.PERSON:
            return None  # a bot is always ready, and has only added something to the next deal
        case ReadyChanged(ready=True):
            return name.tell(update.seat, _("You are ready."), _("{who} is ready."))
        case ReadyChanged():
            return name.tell(
                update.seat, _("You are no longer ready."), _("{who} is no longer ready.")
            )
        case RematchAsked():
            return name.tell(
                update.seat, _("You want another game."), _("{who} wants another game.")
            )
        case DeadlineMoved():
            seconds = max(1, round(update.given_back.total_seconds()))
            return ngettext(
                "Nobody could act for {count} second; that time is given back.",
                "Nobody could act for {count} seconds; that time is given back.",
                seconds,
            ).format(count=seconds)
        case BotFailed():
            return _("The bot {name} failed: {problem}.").format(
                name=name.within(update.seat), problem=update.problem
            )
        case DealChecked():
            return check_sentence(update)
        case TableClosed(reason=CloseReason.HOST, by=host):
            if table.i_am_host:
                return _("The table has ended: you closed it.")
            closed = _("The table has ended: {host} closed it.").format(host=host)
            return closed if host else _("The table has ended: its host closed it.")
        case TableClosed():
            return _("The table has ended: nobody was left.")
        case _:
            return None


def presence_sentences(update: PresenceChanged, table: TableModel) -> list[str]:
    """Who went, and who is there again: of others, and what is not known already."""
    told = [_absence(table, seat) for seat in update.gone if seat != table.my_seat]
    told += [
        _("{name} is here again.").format(name=seat_name(table, seat))
        for seat in update.back
        if seat != table.my_seat
    ]
    return [said for said in told if said]


def _absence(table: TableModel, seat: int) -> str:
    presence = table.presence[seat]
    if table.seats[seat].substituted:
        return ""
    name = seat_name(table, seat)
    if presence.kept_until is None or presence.away_since is None:
        return _("{name} is away.").format(name=name)
    left = span(round((presence.kept_until - presence.away_since).total_seconds()))
    if table.phase in (Phase.PLAYING, Phase.BETWEEN_DEALS):
        said = _("{name} is away; in {time} a substitute takes over.")
    else:
        said = _("{name} is away; the seat is kept for {time}.")
    return said.format(name=name, time=left)


def link_sentence(link: LinkChanged) -> str:
    """The state of the line to the server."""
    if link.online:
        return _("Connected again.")
    return _(
        "Connection lost ({problem}). Your seat is kept; attempt {attempt} in {seconds} s."
    ).format(problem=translated(link.problem), attempt=link.attempt, seconds=round(link.retry_in))


def _kind_of(seat: Seat) -> list[str]:
    match seat.occupant:
        case Occupant.BUILT_IN_BOT:
            return [_("bot"), seat.level]
        case Occupant.REMOTE_BOT:
            return [_("bot")]
        case _:
            return []


def _in_brackets(seat: Seat, *, with_state: bool = True) -> str:
    words = [*_kind_of(seat), *([_("ready")] if with_state and seat.ready else [])]
    return f" ({', '.join(words)})" if words else ""


def _cards_played(update: CardsPlayed, name: _Names) -> str:
    cards = cards_named(update.set.cards)
    what = (
        cards
        if update.set.count == 1
        else _("{value}: {cards}").format(value=update.set.value, cards=cards)
    )
    goes_out = update.card_count == 0
    if update.opening and goes_out:
        texts = (
            _("You opened with {what}, and went out."),
            _("{who} opened with {what}, and went out."),
        )
    elif update.opening:
        texts = _("You opened with {what}."), _("{who} opened with {what}.")
    elif goes_out:
        texts = _("You played {what}, and went out."), _("{who} played {what}, and went out.")
    else:
        texts = _("You played {what}."), _("{who} played {what}.")
    return name.tell(update.seat, *texts, actor=update.actor, what=what)


def _picked_up(update: CardPickedUp, name: _Names) -> str:
    card = card_name(update.card)
    if not update.discarded:
        return name.tell(
            update.seat,
            _("You took {card}."),
            _("{who} took {card}."),
            actor=update.actor,
            card=card,
        )
    count = len(update.discarded)
    return name.tell(
        update.seat,
        ngettext(
            "You took {card}; {discarded} was discarded.",
            "You took {card}; {discarded} were discarded.",
            count,
        ),
        ngettext(
            "{who} took {card}; {discarded} was discarded.",
            "{who} took {card}; {discarded} were discarded.",
            count,
        ),
        actor=update.actor,
        card=card,
        discarded=cards_named(update.discarded),
    )


def _deal_ended(update: DealEnded, name: _Names) -> str:
    scores = "; ".join(_score(score, name) for score in update.scores)
    return name.tell(
        update.out_seat,
        _("Deal {deal} is over. You went out. Penalties: {scores}."),
        _("Deal {deal} is over. {who} went out. Penalties: {scores}."),
        deal=update.deal,
        scores=scores,
    )


def _score(score: DealScore, name: _Names) -> str:
    cards = f" ({cards_named(score.remaining)})" if score.remaining else ""
    return _("{name} {penalty}{cards}, total {total}").format(
        name=name.within(score.seat), penalty=score.penalty, cards=cards, total=score.total
    )


def _game_started(update: GameStarted, table: TableModel, name: _Names) -> str:
    players = listed(name.within(seat) for seat in update.seats)
    if update.removed:
        return _("Game {game} starts, {terms}, without {colours}: {players}.").format(
            game=update.game,
            terms=terms(table.options),
            colours=listed(map(colour_name, update.removed)),
            players=players,
        )
    return _("Game {game} starts, {terms}: {players}.").format(
        game=update.game, terms=terms(table.options), players=players
    )


def result_sentences(table: TableModel, saved: str = "") -> list[str]:
    """After a game: who won, and where it was kept; nothing before its end."""
    if table.game is None or not table.game.winners:
        return []
    return [said for said in (_outcome(table.game.winners, table), saved) if said]


def _outcome(winners: Sequence[int], table: TableModel) -> str:
    name, total = _PlayerNames(table), 0
    if table.game and winners:
        total = table.game.player(winners[0]).total
    points = points_counted(total)
    if len(winners) == 1:
        return name.tell(
            winners[0],
            _("The game is over. You win with {points}."),
            _("The game is over. {who} wins with {points}."),
            points=points,
        )
    shared = listed(name.within(seat) for seat in winners)
    return _("The game is over. Victory is shared with {points} by {names}.").format(
        points=points, names=shared
    )


# How things stand


def hand_sentence(hand: Sequence[Card]) -> str:
    """The own hand."""
    if not hand:
        return _("You hold no cards.")
    return _("Hand, {count}: {cards}.").format(
        count=cards_counted(len(hand)), cards=", ".join(map(card_name, hand))
    )


def centre_sentence(table: TableModel) -> str:
    """The set to beat (R7); or that there is none, since nothing is being played."""
    game = table.game
    if game is None or game.deal == 0 or table.phase is Phase.WAITING:
        return waiting_sentence(table)
    if game.winners:
        return _outcome(game.winners, table)
    if game.centre is None:
        return _("Centre: empty.")
    value, cards = game.centre.value, cards_named(game.centre.cards)
    if game.centre_seat is None:
        return _("Centre: {value}, {cards}.").format(value=value, cards=cards)
    return _("Centre: {value}, {cards}, by {name}.").format(
        value=value, cards=cards, name=_Names(table).within(game.centre_seat)
    )


def waiting_sentence(table: TableModel) -> str:
    """Who sits at a table that waits."""
    seats = listed(
        f"{_Names(table).within(seat.seat)}{_in_brackets(seat)}" for seat in table.taken_seats
    )
    free = len(table.seats) - len(table.taken_seats)
    return " ".join(
        (
            _("Table {table} waits, {terms}.").format(
                table=table.table, terms=terms(table.options)
            ),
            _("At the table: {names}.").format(names=seats or _("nobody")),
            ngettext("{count} free seat.", "{count} free seats.", free).format(count=free)
            if free
            else _("No seat is free."),
        )
    )


def turn_sentence(table: TableModel, decision: Decision) -> str:
    """What the viewer has to decide now."""
    centre = table.game.centre if table.game else None
    match decision.kind:
        case DecisionKind.PICK_UP:
            cards = alternatives(map(card_name, decision.pick_ups))
            return _("Your turn. Take {cards}.").format(cards=cards)
        case DecisionKind.RESPOND if centre is not None:
            if not decision.plays:
                return _("Your turn. You have no legal play: pass.")
            return _("Your turn. Play {count} or {more} cards above {value}, or pass.").format(
                count=centre.count, more=centre.count + 1, value=centre.value
            )
        case DecisionKind.OPEN:
            if any(play.set.count > 1 for play in decision.plays):
                return _("Your turn. Open with one card, or with your whole hand.")
            return _("Your turn. Open with one card.")
        case _:
            return _("Your turn.")


def time_sentence(decision: Decision, now: datetime) -> str | None:
    """How long the open decision may take yet; `now` by the server's clock."""
    left = decision.seconds_left(now)
    return None if left is None else _("{time} left.").format(time=span(left))


def players_sentences(table: TableModel) -> list[str]:
    """Every player: cards, points, and whether they passed."""
    game = table.game
    if game is None:
        return [waiting_sentence(table)]
    name = _Names(table)
    turn = table.decision.seat if table.decision else None
    return [
        _("{name}: {facts}.").format(
            name=name(p.seat),
            facts=", ".join(
                (
                    cards_counted(p.card_count),
                    points_counted(p.total),
                    *([_("passed")] if p.passed else []),
                    *([_("to act")] if p.seat == turn else []),
                )
            ),
        )
        for p in game.players
    ]


def scores_sentences(table: TableModel) -> list[str]:
    """The penalties of each deal and the totals, best first."""
    game = table.game
    single = table.options.threshold is None
    said = _("The game is a single deal.") if single else _("The game goes {ending}.")
    goes = said.format(ending=ending(table.options))
    if game is None or not any(player.penalties for player in game.players):
        return [f"{_('No deal is over yet.')} {goes}"]
    name = _PlayerNames(table)
    lines = [
        (f"{rank}. " if game.winners else "")
        + _("{name}: {facts}.").format(
            name=name(p.seat),
            facts=f"{' + '.join(map(str, p.penalties))} = {points_counted(p.total)}",
        )
        for rank, p in game.standings
    ]
    if not game.winners:
        return [*lines, goes]
    winners = listed(name.within(seat) for seat in game.winners)
    return [*lines, _("Won by {names}.").format(names=winners)]


def next_sentence(table: TableModel) -> str | None:
    """What a seat can do when nothing is being played. The commands stay as they are typed."""
    ready = table.me is not None and table.me.ready
    match table.phase:
        case Phase.WAITING if table.i_am_host:
            return _("Say `start` when everybody is here, or `ready`.")
        case Phase.WAITING | Phase.BETWEEN_DEALS if not ready:
            return _("Say `ready` to go on.")
        case Phase.GAME_OVER:
            return _("Say `rematch` for another game, or `quit`.")
        case _:
            return None


def play_line(play: LegalPlay) -> str:
    """A legal play as it may be typed: `961: B9 B6 B1`."""
    text = _("{value}: {cards}").format(value=play.set.value, cards=play.set)
    return _("{play}, goes out").format(play=text) if play.goes_out else text
