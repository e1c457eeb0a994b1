"""From protobuf to plain values, and back for what a client sends.

Text from the network is made harmless here, once, for all interfaces: control and direction
characters could otherwise retitle a terminal or imitate another name.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, TypedDict

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from odin_contract import events, values
from odin_engine import DECK, Card, CardSet, Colour, OdinError, set_of
from odin_engine.plain_text import clean_text
from odin_table.v1 import card_pb2, decision_pb2, event_pb2, table_pb2

NAME_LENGTH: Final = 24
CHAT_LENGTH: Final = 200
TITLE_LENGTH: Final = 40
LONGEST: Final = 400
"""Of texts that the contract gives no length, such as a bot's problem."""

_COLOURS: Final = tuple(Colour)


class NotUnderstoodError(Exception):
    """The server sent something that the contract does not allow, such as a card that is none."""


def clean(text: str, length: int) -> str:
    """The text in one line, without what cannot be seen (`plain_text`), at most so long."""
    return clean_text(text)[:length]


# Cards


def card_of(value: int) -> Card:
    """The card with this number in the contract; raises NotUnderstoodError when it is none."""
    if not 1 <= value <= len(DECK):
        raise NotUnderstoodError(f"the server named the card {value}, which there is not")
    return DECK[value - 1]


def cards_of(numbers: Iterable[int]) -> tuple[Card, ...]:
    """The cards with these numbers in the contract."""
    return tuple(card_of(value) for value in numbers)


def card_value(card: Card) -> card_pb2.Card.ValueType:
    """The number of a card in the contract."""
    return card_pb2.Card.Value(f"CARD_{card}")


def _set_of(numbers: Iterable[int]) -> CardSet:
    cards = cards_of(numbers)
    try:
        return set_of(cards)
    except OdinError as error:
        raise NotUnderstoodError(
            f"the server named cards that are no set: {error.message}"
        ) from error


def colours_of(numbers: Iterable[int]) -> tuple[Colour, ...]:
    """The colours with these numbers in the contract, without those that there are not."""
    return tuple(_COLOURS[number - 1] for number in numbers if 1 <= number <= len(_COLOURS))


# Times


def time_of(stamp: Timestamp) -> datetime:
    """The time in UTC."""
    return stamp.ToDatetime(tzinfo=UTC)


def _time_in(message: Message, field: str) -> datetime | None:
    return time_of(getattr(message, field)) if message.HasField(field) else None


# Decisions and actions


def action_of(message: decision_pb2.Action) -> values.Action | None:
    """The action; None for a kind that this version does not know."""
    match message.WhichOneof("action"):
        case "play_cards":
            play = message.play_cards
            pick_up = card_of(play.pick_up) if play.pick_up else None
            return values.PlayCards(cards_of(play.cards), pick_up)
        case "pick_up":
            return values.PickUp(card_of(message.pick_up.card))
        case "pass_turn":
            return values.Pass()
        case _:
            return None


def action_message(action: values.Action) -> decision_pb2.Action:
    """The action as a message."""
    match action:
        case values.PlayCards(cards, pick_up):
            play = decision_pb2.PlayCards(cards=map(card_value, cards))
            if pick_up is not None:
                play.pick_up = card_value(pick_up)
            return decision_pb2.Action(play_cards=play)
        case values.PickUp(card):
            return decision_pb2.Action(pick_up=decision_pb2.PickUp(card=card_value(card)))
        case values.Pass():
            return decision_pb2.Action(pass_turn=decision_pb2.PassTurn())


def decision_of(message: decision_pb2.Decision) -> values.Decision:
    """A decision, with its choices if they are for this viewer."""
    choices = message.choices
    return values.Decision(
        id=message.id,
        seat=message.seat,
        kind=values.DecisionKind(message.kind),
        may_pass=message.may_pass,
        deadline=_time_in(message, "deadline"),
        plays=tuple(values.LegalPlay(_set_of(play.cards), play.goes_out) for play in choices.plays),
        pick_ups=cards_of(choices.pick_ups),
        default_action=action_of(choices.default_action),
    )


# Tables


def options_of(message: table_pb2.TableOptions) -> values.Options:
    """How a table plays."""
    return values.Options(
        seats=message.seats,
        threshold=None if message.WhichOneof("ending") == "single_deal" else message.threshold,
        short_deck=message.short_deck,
        private=message.visibility == table_pb2.VISIBILITY_PRIVATE,
        open_to_bots=message.open_to_bots,
        title=clean(message.title, TITLE_LENGTH),
        turn_time=message.clock.per_turn.seconds,
        bank=message.clock.bank.seconds,
    )


def options_message(options: values.Options) -> table_pb2.TableOptions:
    """How a table is to play, as a message."""
    message = table_pb2.TableOptions(
        seats=options.seats,
        short_deck=options.short_deck,
        visibility=(
            table_pb2.VISIBILITY_PRIVATE if options.private else table_pb2.VISIBILITY_PUBLIC
        ),
        open_to_bots=options.open_to_bots,
        title=options.title,
    )
    if options.turn_time or options.bank:
        message.clock.per_turn.seconds = options.turn_time
        message.clock.bank.seconds = options.bank
    if options.threshold is None:
        message.single_deal = True
    else:
        message.threshold = options.threshold
    return message


def seat_of(message: table_pb2.Seat) -> values.Seat:
    """One place at a table."""
    return values.Seat(
        seat=message.seat,
        occupant=values.Occupant(message.occupant),
        name=clean(message.name, NAME_LENGTH),
        level=clean(message.level, NAME_LENGTH),
        ready=message.ready,
        host=message.host,
        substituted=message.substituted,
        abandoned=message.abandoned,
        nonce=message.nonce,
    )


def seat_message(seat: values.Seat) -> table_pb2.Seat:
    """One place at a table, as a message."""
    return table_pb2.Seat(
        seat=seat.seat,
        occupant=table_pb2.Occupant.ValueType(seat.occupant.value),
        name=seat.name,
        level=seat.level,
        ready=seat.ready,
        host=seat.host,
        substituted=seat.substituted,
        abandoned=seat.abandoned,
        nonce=seat.nonce,
    )


def occupant_value(occupant: values.Occupant) -> table_pb2.Occupant.ValueType:
    """Who wants a seat, as the number in the contract."""
    if occupant is values.Occupant.REMOTE_BOT:
        return table_pb2.OCCUPANT_REMOTE_BOT
    return table_pb2.OCCUPANT_PERSON


def summary_of(message: table_pb2.TableSummary) -> values.TableSummary:
    """A table in the list."""
    return values.TableSummary(
        table=clean(message.table, NAME_LENGTH),
        options=options_of(message.options),
        phase=values.Phase(message.phase),
        seats=tuple(map(seat_of, message.seats)),
        deal=message.deal,
        create_time=time_of(message.create_time),
    )


def game_of(message: table_pb2.GameView) -> values.Game:
    """A game as this viewer sees it."""
    return values.Game(
        game=message.game,
        deal=message.deal,
        removed=colours_of(message.removed_colours),
        opener=message.opener,
        players=tuple(
            values.Player(
                seat=player.seat,
                card_count=player.card_count,
                passed=player.passed,
                penalties=tuple(player.penalties),
                total=player.total,
                bank=player.bank.ToTimedelta() if player.HasField("bank") else None,
                name=clean(player.name, NAME_LENGTH),
            )
            for player in message.players
        ),
        centre=_set_of(message.centre) if message.centre else None,
        centre_seat=message.centre_seat if message.HasField("centre_seat") else None,
        discarded=cards_of(message.discarded),
        hand=cards_of(message.hand.cards) if message.HasField("hand") else None,
        remaining_hands=_hands_of(message.remaining_hands),
        out_seat=message.out_seat if message.HasField("out_seat") else None,
        winners=tuple(message.winners),
        commitment=message.source.commitment or message.commitment,
        nonces=tuple(message.source.nonces or message.nonces),
        secret=message.secret,
        rounds=message.source.rounds,
        key_rounds=message.source.key_rounds,
    )


def _hands_of(hands: Iterable[table_pb2.Hand]) -> tuple[tuple[int, tuple[Card, ...]], ...]:
    return tuple((hand.seat, cards_of(hand.cards)) for hand in hands)


def view_of(message: table_pb2.TableView) -> values.TableView:
    """All that this viewer may see."""
    return values.TableView(
        table=clean(message.table, NAME_LENGTH),
        log_id=message.log_id,
        seq=message.seq,
        options=options_of(message.options),
        phase=values.Phase(message.phase),
        seats=tuple(map(seat_of, message.seats)),
        game=game_of(message.game) if message.HasField("game") else None,
        decision=decision_of(message.decision) if message.HasField("decision") else None,
        my_seat=message.your_seat if message.HasField("your_seat") else None,
        i_am_host=message.you_are_host,
        next_deal_time=_time_in(message, "next_deal_time"),
        code=clean(message.code, NAME_LENGTH),
        commitment=message.source.commitment or message.commitment,
        rounds=message.source.rounds,
    )


# Events and notices


class _Head(TypedDict):
    """What every event has."""

    seq: int
    time: datetime


def event_of(message: event_pb2.Event) -> events.Event:
    """An event; a bare `Event` for a payload that this version does not know."""
    head: _Head = {"seq": message.seq, "time": time_of(message.time)}
    match message.WhichOneof("payload"):
        case "table_opened":
            return events.TableOpened(**head, options=options_of(message.table_opened.options))
        case "seat_taken":
            return events.SeatTaken(**head, seat=seat_of(message.seat_taken.seat))
        case "seat_left":
            left = message.seat_left
            return events.SeatLeft(**head, seat=left.seat, reason=values.LeaveReason(left.reason))
        case "host_changed":
            host = message.host_changed
            return events.HostChanged(**head, seat=host.seat if host.HasField("seat") else None)
        case "ready_changed":
            changed = message.ready_changed
            return events.ReadyChanged(
                **head, seat=changed.seat, ready=changed.ready, nonce=changed.nonce
            )
        case "substitute_seated":
            seated = message.substitute_seated
            return events.SubstituteSeated(
                **head,
                seat=seated.seat,
                reason=values.LeaveReason(seated.reason),
                level=clean(seated.level, NAME_LENGTH),
            )
        case "seat_resumed":
            return events.SeatResumed(**head, seat=message.seat_resumed.seat)
        case "rematch_asked":
            asked = message.rematch_asked
            return events.RematchAsked(**head, seat=asked.seat, nonce=asked.nonce)
        case "table_closed":
            return events.TableClosed(
                **head, reason=values.CloseReason(message.table_closed.reason)
            )
        case _:
            return _game_event_of(message, head)


def _game_event_of(message: event_pb2.Event, head: _Head) -> events.Event:
    match message.WhichOneof("payload"):
        case "game_started":
            game = message.game_started
            return events.GameStarted(
                **head,
                game=game.game,
                seats=tuple(game.seats),
                removed=colours_of(game.removed_colours),
            )
        case "deal_started":
            deal = message.deal_started
            return events.DealStarted(
                **head,
                deal=deal.deal,
                opener=deal.opener,
                hand=cards_of(deal.hand.cards) if deal.HasField("hand") else None,
                hands=_hands_of(deal.hands),
                commitment=deal.source.commitment or deal.commitment,
                nonces=tuple(deal.source.nonces or deal.nonces),
                rounds=deal.source.rounds,
                key_rounds=deal.source.key_rounds,
            )
        case "decision_opened":
            decision = decision_of(message.decision_opened.decision)
            return events.DecisionOpened(**head, decision=decision)
        case "cards_played":
            play = message.cards_played
            return events.CardsPlayed(
                **head,
                seat=play.seat,
                set=_set_of(play.cards),
                opening=play.opening,
                card_count=play.card_count,
                actor=values.Actor(play.actor),
            )
        case "card_picked_up":
            taken = message.card_picked_up
            return events.CardPickedUp(
                **head,
                seat=taken.seat,
                card=card_of(taken.card),
                discarded=cards_of(taken.discarded),
                card_count=taken.card_count,
                actor=values.Actor(taken.actor),
            )
        case "passed":
            passed = message.passed
            return events.Passed(**head, seat=passed.seat, actor=values.Actor(passed.actor))
        case "round_ended":
            ended = message.round_ended
            return events.RoundEnded(
                **head, opener=ended.opener, discarded=cards_of(ended.discarded)
            )
        case "deal_ended":
            return _deal_ended(message.deal_ended, head)
        case "game_ended":
            return events.GameEnded(**head, winners=tuple(message.game_ended.winners))
        case "deadline_moved":
            moved = message.deadline_moved
            return events.DeadlineMoved(
                **head,
                deadline=time_of(moved.deadline),
                given_back=moved.given_back.ToTimedelta(),
            )
        case "bot_failed":
            failed = message.bot_failed
            return events.BotFailed(
                **head, seat=failed.seat, problem=clean(failed.problem, LONGEST)
            )
        case _:
            return _event_of_a_fair_deal(message, head)


def _event_of_a_fair_deal(message: event_pb2.Event, head: _Head) -> events.Event:
    match message.WhichOneof("payload"):
        case "deal_committed":
            committed = message.deal_committed
            return events.DealCommitted(
                **head,
                game=committed.game,
                deal=committed.deal,
                commitment=committed.source.commitment or committed.commitment,
                rounds=committed.source.rounds,
            )
        case "nonce_given":
            given = message.nonce_given
            return events.NonceGiven(**head, seat=given.seat, nonce=given.nonce)
        case "deal_revealed" | "stretched_deal_revealed":
            revealed = (
                message.deal_revealed
                if message.HasField("deal_revealed")
                else message.stretched_deal_revealed
            )
            return events.DealRevealed(**head, deal=revealed.deal, secret=revealed.secret)
        case _:
            return events.Event(**head)


def _deal_ended(message: event_pb2.DealEnded, head: _Head) -> events.DealEnded:
    return events.DealEnded(
        **head,
        deal=message.deal,
        out_seat=message.out_seat,
        scores=tuple(
            events.DealScore(score.seat, cards_of(score.remaining), score.penalty, score.total)
            for score in message.scores
        ),
        next_deal_time=_time_in(message, "next_deal_time"),
    )


def presence_of(message: event_pb2.Presence) -> events.PresenceChanged:
    """Who is there."""
    return events.PresenceChanged(
        seats=tuple(
            values.SeatPresence(
                seat.seat,
                seat.connected,
                _time_in(seat, "away_since"),
                _time_in(seat, "kept_until"),
                seat.may_be_away.ToTimedelta() if seat.HasField("may_be_away") else None,
            )
            for seat in message.seats
        ),
        watchers=message.watchers,
    )


def chat_lines_of(message: event_pb2.Chat) -> tuple[values.ChatLine, ...]:
    """Lines of chat, oldest first."""
    return tuple(
        values.ChatLine(
            number=line.number,
            time=time_of(line.time),
            name=clean(line.name, NAME_LENGTH),
            seat=line.seat if line.HasField("seat") else None,
            text=clean(line.text, CHAT_LENGTH),
        )
        for line in message.lines
    )


def stream_end_of(message: event_pb2.StreamEnd) -> events.StreamEnded:
    """Why the server ended the stream."""
    comes_back = message.HasField("retry_after")
    return events.StreamEnded(
        reason=values.StreamEndReason(message.reason),
        retry_after=message.retry_after.ToTimedelta().total_seconds() if comes_back else None,
    )
