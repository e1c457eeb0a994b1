"""Views, events and notices from protobuf, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypedDict

from odin_contract import enums, events, values
from odin_contract.cards import CARDS, COLOURS, set_from
from odin_contract.decisions import decision_of
from odin_contract.limits import CHAT_LENGTH, NAME_LENGTH, TEXT_LENGTH
from odin_contract.options import options_of
from odin_contract.texts import clean
from odin_contract.times import length_in, time_in, time_of
from odin_engine import Card
from odin_table.v1 import event_pb2, table_pb2

# Tables


def seat_of(message: table_pb2.Seat) -> values.Seat:
    """One place at a table."""
    return values.Seat(
        seat=message.seat,
        occupant=enums.Occupant.of(message.occupant),
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
        occupant=seat.occupant.value,
        name=seat.name,
        level=seat.level,
        ready=seat.ready,
        host=seat.host,
        substituted=seat.substituted,
        abandoned=seat.abandoned,
        nonce=seat.nonce,
    )


def summary_of(message: table_pb2.TableSummary) -> values.TableSummary:
    """A table in the list."""
    return values.TableSummary(
        table=clean(message.table, NAME_LENGTH),
        options=options_of(message.options),
        phase=enums.Phase.of(message.phase),
        seats=tuple(map(seat_of, message.seats)),
        deal=message.deal,
        create_time=time_of(message.create_time),
    )


def game_of(message: table_pb2.GameView) -> values.Game:
    """A game as this viewer sees it."""
    return values.Game(
        game=message.game,
        deal=message.deal,
        removed=COLOURS.known(message.removed_colours),
        opener=message.opener,
        players=tuple(
            values.Player(
                seat=player.seat,
                card_count=player.card_count,
                passed=player.passed,
                penalties=tuple(player.penalties),
                total=player.total,
                bank=length_in(player, "bank"),
                name=clean(player.name, NAME_LENGTH),
            )
            for player in message.players
        ),
        centre=set_from(message.centre) if message.centre else None,
        centre_seat=message.centre_seat if message.HasField("centre_seat") else None,
        discarded=CARDS.values(message.discarded),
        hand=CARDS.values(message.hand.cards) if message.HasField("hand") else None,
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
    return tuple((hand.seat, CARDS.values(hand.cards)) for hand in hands)


def view_of(message: table_pb2.TableView) -> values.TableView:
    """All that this viewer may see."""
    return values.TableView(
        table=clean(message.table, NAME_LENGTH),
        log_id=message.log_id,
        seq=message.seq,
        options=options_of(message.options),
        phase=enums.Phase.of(message.phase),
        seats=tuple(map(seat_of, message.seats)),
        game=game_of(message.game) if message.HasField("game") else None,
        decision=decision_of(message.decision) if message.HasField("decision") else None,
        my_seat=message.your_seat if message.HasField("your_seat") else None,
        i_am_host=message.you_are_host,
        next_deal_time=time_in(message, "next_deal_time"),
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
            return events.SeatLeft(**head, seat=left.seat, reason=enums.LeaveReason.of(left.reason))
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
                reason=enums.LeaveReason.of(seated.reason),
                level=clean(seated.level, NAME_LENGTH),
            )
        case "seat_resumed":
            return events.SeatResumed(**head, seat=message.seat_resumed.seat)
        case "rematch_asked":
            asked = message.rematch_asked
            return events.RematchAsked(**head, seat=asked.seat, nonce=asked.nonce)
        case "table_closed":
            return events.TableClosed(
                **head, reason=enums.CloseReason.of(message.table_closed.reason)
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
                removed=COLOURS.known(game.removed_colours),
            )
        case "deal_started":
            deal = message.deal_started
            return events.DealStarted(
                **head,
                deal=deal.deal,
                opener=deal.opener,
                hand=CARDS.values(deal.hand.cards) if deal.HasField("hand") else None,
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
                set=set_from(play.cards),
                opening=play.opening,
                card_count=play.card_count,
                actor=enums.Actor.of(play.actor),
            )
        case "card_picked_up":
            taken = message.card_picked_up
            return events.CardPickedUp(
                **head,
                seat=taken.seat,
                card=CARDS.value(taken.card),
                discarded=CARDS.values(taken.discarded),
                card_count=taken.card_count,
                actor=enums.Actor.of(taken.actor),
            )
        case "passed":
            passed = message.passed
            return events.Passed(**head, seat=passed.seat, actor=enums.Actor.of(passed.actor))
        case "round_ended":
            ended = message.round_ended
            return events.RoundEnded(
                **head, opener=ended.opener, discarded=CARDS.values(ended.discarded)
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
                **head, seat=failed.seat, problem=clean(failed.problem, TEXT_LENGTH)
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
            events.DealScore(score.seat, CARDS.values(score.remaining), score.penalty, score.total)
            for score in message.scores
        ),
        next_deal_time=time_in(message, "next_deal_time"),
    )


def presence_of(message: event_pb2.Presence) -> events.PresenceChanged:
    """Who is there."""
    return events.PresenceChanged(
        seats=tuple(
            values.SeatPresence(
                seat.seat,
                seat.connected,
                time_in(seat, "away_since"),
                time_in(seat, "kept_until"),
                length_in(seat, "may_be_away"),
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
        reason=enums.StreamEndReason.of(message.reason),
        retry_after=message.retry_after.ToTimedelta().total_seconds() if comes_back else None,
    )
