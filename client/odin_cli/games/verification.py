"""Plays a finished game again from its file, by the rules, and finds what cannot have happened.

Every event is worked out anew from what came before it: by the engine for what the rules decide, by
docs/fair-deal.md for what chance did. What the file says otherwise is a `WrongLineError`. Nobody
can work out again what people chose by themselves: names, times, and which of the legal actions.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message

from odin_cli.games.as_told import KINDS, action_of, choices_of, is_default, numbers_of
from odin_cli.games.game_file import SavedGame
from odin_cli.speech.languages import _
from odin_client.errors import CopyableError
from odin_contract import reading
from odin_engine import (
    NEW,
    CardPickedUp,
    CardsPlayed,
    Command,
    DealEnded,
    DealStarted,
    Decision,
    GameEnded,
    OdinError,
    Options,
    Passed,
    Phase,
    RoundEnded,
    StartDeal,
    StartGame,
    State,
    decide,
    decision_of,
    evolve,
)
from odin_engine import Event as GameEvent
from odin_engine.fair_deal import (
    MAX_ROUNDS,
    ROUNDS,
    commitment,
    draw_deal,
    draw_first,
    key_rounds,
    word,
)
from odin_table.v1 import decision_pb2, event_pb2, table_pb2

_PLAYED_BY: Final[Mapping[int, event_pb2.Actor.ValueType]] = {
    table_pb2.OCCUPANT_PERSON: event_pb2.ACTOR_PERSON,
    table_pb2.OCCUPANT_REMOTE_BOT: event_pb2.ACTOR_BOT,
    table_pb2.OCCUPANT_BUILT_IN_BOT: event_pb2.ACTOR_BOT,
}


class WrongLineError(CopyableError):
    """A line of the file says what cannot have happened."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


@dataclass
class Verified:
    """What was worked out again, all of which adds up."""

    deals: int = 0
    actions: int = 0
    uncommitted: int = 0
    """Deals that no server had committed itself to: how their cards were chosen is not known."""
    unknown: int = 0
    """Lines of a newer version, which were stepped over."""
    clock_back: int = 0
    """How often the server's clock was put back."""
    added: Counter[tuple[int, int]] = dataclasses.field(default_factory=Counter[tuple[int, int]])
    """Of how many deals how many seats had added something, of how many seats."""
    words: list[str] = dataclasses.field(default_factory=list[str])
    """Of the deals that a server had committed itself to, for comparing aloud."""
    weak: int = 0
    """Deals with people whose key was stretched too little, so that a server could search."""
    not_computed: int = 0
    """Deals whose key has more rounds than anybody computes: their cards were not checked."""


def verify(game: SavedGame) -> Verified:
    """Plays the game again; raises WrongLineError where it does not add up."""
    return _Referee(game).run()


class _Referee:
    def __init__(self, game: SavedGame) -> None:
        self._game: Final = game
        self._line = 1
        self._found: Final = Verified()
        self._state: State = NEW
        self._due: Final = deque[GameEvent]()
        """What the rules say comes next."""
        self._decision: Decision | None = None
        self._failed: int | None = None
        """The seat of a bot that failed: its default action is due."""
        self._actor = event_pb2.ACTOR_UNSPECIFIED
        self._seats: list[table_pb2.Seat] = list(_copy_of(game.view).seats)
        self._players: list[int] = []
        self._open = game.view.source.commitment or game.view.commitment
        self._rounds = game.view.source.rounds
        self._deal = event_pb2.DealStarted()
        self._dealt: DealStarted | None = None
        self._number = 0

    def run(self) -> Verified:
        """Goes through the file from its first line to its last."""
        events, view = self._game.events, self._game.view
        numbers = [seat.seat for seat in view.seats]
        if len(numbers) != view.options.seats or numbers != list(range(len(numbers))):
            raise self._wrong(_("there is no such card, colour or seat"))
        previous: event_pb2.Event | None = None
        for self._line, event in enumerate(events, start=2):
            expected = self._game.view.seq + self._line - 1
            if event.seq != expected:
                raise self._wrong(_("its number has to be {seq}").format(seq=expected))
            if previous and event.time.ToNanoseconds() < previous.time.ToNanoseconds():
                self._found.clock_back += 1
            if event.WhichOneof("payload") is None:
                self._found.unknown += 1
                continue
            try:
                self._see(event, previous)
            except OdinError as error:
                rule = getattr(error, "rule", "R3")
                raise self._wrong(_("the rules forbid that ({rule})").format(rule=rule)) from error
            except (reading.NotUnderstoodError, ValueError, KeyError, IndexError) as error:
                raise self._wrong(_("there is no such card, colour or seat")) from error
            previous = event
        if self._state.phase is not Phase.GAME_OVER or self._due:
            raise self._wrong(_("the game is not over there"))
        return self._found

    def _wrong(self, problem: str) -> WrongLineError:
        return WrongLineError(self._line, problem)

    def _not_now(self) -> WrongLineError:
        return self._wrong(_("that cannot have happened then"))

    def _same(self, told: Message, worked_out: Message) -> None:
        """Raises for the first field in which they differ."""
        for field in told.DESCRIPTOR.fields:
            if getattr(told, field.name) != getattr(worked_out, field.name) or (
                field.has_presence and told.HasField(field.name) != worked_out.HasField(field.name)
            ):
                raise self._wrong(
                    _("{field} does not follow from what happened before").format(
                        field=f"{told.DESCRIPTOR.name}.{field.name}"
                    )
                )

    def _see(self, event: event_pb2.Event, previous: event_pb2.Event | None) -> None:
        kind = event.WhichOneof("payload") or ""
        if (self._state is NEW) != (previous is None) or (previous is None) != (
            kind == "game_started"
        ):
            raise self._wrong(_("the file does not begin with the start of the game"))
        told: Any = getattr(event, kind)
        self._revealed_in_time(kind, previous)
        match kind:
            case "game_started":
                self._game_started(told)
            case "deal_started":
                self._deal_started(told)
            case "deal_committed":
                self._deal_committed(told)
            case "deal_revealed" | "stretched_deal_revealed":
                self._deal_revealed(kind, told, previous)
            case "decision_opened":
                self._decision_opened(told.decision, event.seq)
            case "cards_played" | "card_picked_up" | "passed":
                self._acted(kind, told, previous)
            case "round_ended" | "deal_ended" | "game_ended":
                self._follows(kind, told)
            case _:
                self._at_the_table(kind, told)

    # What chance decided

    def _game_started(self, told: event_pb2.GameStarted) -> None:
        taken = [seat.seat for seat in self._seats if seat.occupant]
        self._same(
            told,
            event_pb2.GameStarted(
                game=told.game, seats=taken, removed_colours=told.removed_colours
            ),
        )
        if told.game < 1:
            raise self._not_now()
        self._players = taken
        self._number = told.game
        options = self._game.view.options
        threshold = options.threshold if options.WhichOneof("ending") == "threshold" else None
        self._state = NEW._replace(
            options=Options(len(taken), threshold, short_deck=options.short_deck)
        )
        self._removed = reading.colours_of(told.removed_colours)

    def _deal_started(self, told: event_pb2.DealStarted) -> None:
        if self._state.phase is Phase.NOT_STARTED:
            opener = self._player(told.opener)
            options = self._state.options
            self._do(StartGame(options, self._removed, opener))
            self._due.clear()
        elif self._state.phase is not Phase.BETWEEN_DEALS:
            raise self._not_now()
        hands = [reading.cards_of(hand.cards) for hand in told.hands]
        order = [*(card for hand in hands for card in hand), *reading.cards_of(told.undealt)]
        self._do(StartDeal(tuple(order)))
        started = self._due.popleft()
        assert isinstance(started, DealStarted), "that is what starts"
        self._same(
            told,
            event_pb2.DealStarted(
                deal=started.number,
                opener=self._players[started.opener],
                hands=[
                    table_pb2.Hand(seat=seat, cards=numbers_of(started.hand_of(player)))
                    for player, seat in enumerate(self._players)
                ],
                undealt=told.undealt,
                **self._follows_from(),
            ),
        )
        self._deal, self._dealt, self._open, self._rounds = told, started, b"", 0
        self._found.deals += 1
        self._note(told)
        for seat in self._seats:
            seat.nonce = b""

    def _follows_from(self) -> dict[str, Any]:
        """What the start of a deal has to say that it follows from."""
        if not self._open:
            return {}
        players = [self._seats[seat] for seat in self._players]
        nonces = [seat.nonce for seat in players]
        if not self._rounds:
            return {"commitment": self._open, "nonces": nonces}
        source = table_pb2.DealSource(
            commitment=self._open,
            rounds=self._rounds,
            nonces=nonces,
            key_rounds=key_rounds(self._rounds, has_person=self._has_person),
        )
        return {"source": source}

    @property
    def _has_person(self) -> bool:
        seats = (self._seats[seat] for seat in self._players)
        return any(seat.occupant == table_pb2.OCCUPANT_PERSON for seat in seats)

    def _note(self, deal: event_pb2.DealStarted) -> None:
        """What is worth saying of a deal, beside that it adds up."""
        found = self._found
        promised = _promised(deal)
        if not promised:
            found.uncommitted += 1
            return
        nonces = _nonces(deal)
        found.added[sum(map(bool, nonces)), len(nonces)] += 1
        found.words.append(word(promised, self._players, nonces))
        found.weak += self._has_person and deal.source.key_rounds < ROUNDS

    def _deal_committed(self, told: event_pb2.DealCommitted) -> None:
        if self._state.phase is not Phase.BETWEEN_DEALS or self._open:
            raise self._not_now()
        self._same(
            told,
            event_pb2.DealCommitted(
                game=self._number,
                deal=self._state.deal + 1,
                commitment=told.commitment,
                source=_promise_of(told) if told.HasField("source") else None,
            ),
        )
        if told.HasField("source") and (told.commitment or told.source.rounds < 1):
            raise self._not_now()
        self._open = told.source.commitment or told.commitment
        self._rounds = told.source.rounds

    def _revealed_in_time(self, kind: str, previous: event_pb2.Event | None) -> None:
        """A deal that was committed to is shown right after its end."""
        ended = previous is not None and previous.HasField("deal_ended")
        if ended and _promised(self._deal) and not kind.endswith("deal_revealed"):
            raise self._wrong(
                _("the secret of deal {deal} is not shown").format(deal=self._deal.deal)
            )

    def _deal_revealed(
        self, kind: str, told: event_pb2.DealRevealed, previous: event_pb2.Event | None
    ) -> None:
        deal, dealt = self._deal, self._dealt
        by_deal_2 = deal.HasField("source")
        expected = "stretched_deal_revealed" if by_deal_2 else "deal_revealed"
        if previous is None or not previous.HasField("deal_ended") or not _promised(deal):
            raise self._not_now()
        if kind != expected:
            raise self._not_now()
        assert dealt is not None, "it has ended"
        self._same(told, event_pb2.DealRevealed(deal=deal.deal, secret=told.secret))
        if commitment(told.secret, deal.source.rounds) != _promised(deal):
            raise self._wrong(_("that secret is not behind the commitment"))
        rounds, nonces = deal.source.key_rounds, _nonces(deal)
        if rounds > MAX_ROUNDS:
            self._found.not_computed += 1
            return
        state = self._state
        if deal.deal == 1:
            short = state.options.colours_to_remove > 0
            first, order = draw_first(told.secret, nonces, short_deck=short, rounds=rounds)
            agrees = (first.first_opener, first.removed) == (dealt.opener, state.removed)
        else:
            agrees = True
            order = draw_deal(
                told.secret,
                nonces,
                deal_number=deal.deal,
                removed=state.removed,
                rounds=rounds,
            )
        drawn = dealt._replace(order=order)
        if not agrees or (drawn.hands, drawn.undealt) != (dealt.hands, dealt.undealt):
            raise self._wrong(
                _("deal {deal} does not follow from this secret and the seats' bytes").format(
                    deal=deal.deal
                )
            )

    # What the rules decide

    def _player(self, seat: int) -> int:
        if seat not in self._players:
            raise self._not_now()
        return self._players.index(seat)

    def _do(self, command: Command) -> None:
        """Lets the rules say what follows; raises what they refuse."""
        if self._due:
            raise self._not_now()
        state = NEW if isinstance(command, StartGame) else self._state
        events = decide(state, command)
        self._due.extend(events)
        for event in events:
            state = evolve(state, event)
        self._state = state
        if not isinstance(command, StartGame | StartDeal):
            self._found.actions += 1

    def _decision_opened(self, told: decision_pb2.Decision, seq: int) -> None:
        decision = decision_of(self._state)
        if decision is None or self._due or self._decision is not None:
            raise self._not_now()
        clock = self._game.view.options.HasField("clock")
        worked_out = decision_pb2.Decision(
            id=seq,
            seat=self._players[decision.seat],
            kind=KINDS[decision.kind],
            may_pass=decision.may_pass,
            deadline=told.deadline if clock else None,
            choices=choices_of(decision) if told.HasField("choices") else None,
        )
        self._same(told, worked_out)
        self._decision = decision

    def _acted(self, kind: str, told: Any, previous: event_pb2.Event | None) -> None:
        if self._due and kind == "card_picked_up":
            # The only card there was is taken with the play.
            self._follows(kind, told)
            return
        seat, actor = self._player(told.seat), told.actor
        action = action_of(kind, told, seat)
        with_its_play = (
            kind == "card_picked_up"
            and previous is not None
            and previous.HasField("cards_played")
            and previous.cards_played.actor == actor
        )
        decision = decision_of(self._state) if with_its_play else self._decision
        if decision is None or decision.seat != seat:
            raise self._wrong(_("it was not this seat's turn"))
        by_default = is_default(action, decision)
        if actor == event_pb2.ACTOR_CLOCK:
            clocked = self._game.view.options.HasField("clock") or self._failed is not None
            allowed = clocked and by_default
        else:
            holder = self._seats[int(told.seat)]
            played_by = _PLAYED_BY[holder.occupant]
            allowed = (
                actor == (event_pb2.ACTOR_SUBSTITUTE if holder.substituted else played_by)
                and self._failed is None
            )
        if not allowed:
            raise self._wrong(_("nobody of that kind acted for this seat"))
        self._actor, self._failed, self._decision = actor, None, None
        self._do(action)
        self._follows(kind, told)

    def _follows(self, kind: str, told: Any) -> None:
        """The next event that is due is the one that the file tells."""
        if not self._due:
            raise self._not_now()
        event = self._due.popleft()
        name, worked_out = self._told_as(event, told)
        if name != kind:
            raise self._not_now()
        self._same(told, worked_out)

    def _told_as(self, event: GameEvent, told: Any) -> tuple[str, Message]:
        """What the file has to say of an event of the engine, and under which name."""
        seats = self._players
        match event:
            case CardsPlayed(seat=seat, cards=cards, opening=opening):
                # What was played with a pick-up is folded already, so the count is without that.
                taken = any(isinstance(due, CardPickedUp) for due in self._due)
                return "cards_played", event_pb2.CardsPlayed(
                    seat=seats[seat],
                    cards=numbers_of(cards.cards),
                    value=cards.value,
                    opening=opening,
                    card_count=self._state.hands[seat].bit_count() - taken,
                    actor=self._actor,
                )
            case CardPickedUp(seat=seat, card=card, discarded=discarded):
                return "card_picked_up", event_pb2.CardPickedUp(
                    seat=seats[seat],
                    card=reading.card_value(card),
                    discarded=numbers_of(discarded),
                    card_count=self._state.hands[seat].bit_count(),
                    actor=self._actor,
                )
            case Passed(seat=seat):
                return "passed", event_pb2.Passed(seat=seats[seat], actor=self._actor)
            case RoundEnded(opener=opener, discarded=discarded):
                return "round_ended", event_pb2.RoundEnded(
                    opener=seats[opener], discarded=numbers_of(discarded)
                )
            case DealEnded():
                return "deal_ended", self._deal_ended(event, told)
            case GameEnded(winners=winners):
                return "game_ended", event_pb2.GameEnded(winners=[seats[w] for w in winners])
            case _:
                raise self._not_now()

    def _deal_ended(self, event: DealEnded, told: Any) -> event_pb2.DealEnded:
        over = any(isinstance(due, GameEnded) for due in self._due)
        time = None if over or not isinstance(told, event_pb2.DealEnded) else told.next_deal_time
        return event_pb2.DealEnded(
            deal=event.number,
            out_seat=self._players[event.out],
            scores=[
                event_pb2.DealScore(
                    seat=seat,
                    remaining=numbers_of(event.hands[player]),
                    penalty=event.penalties[player],
                    total=event.totals[player],
                )
                for player, seat in enumerate(self._players)
            ],
            next_deal_time=time,
        )

    # Who plays

    def _at_the_table(self, kind: str, told: Any) -> None:
        see: Mapping[str, Callable[[Any], bool]] = {
            "ready_changed": self._ready_changed,
            "nonce_given": self._nonce_given,
            "substitute_seated": self._substitute_seated,
            "seat_resumed": self._seat_resumed,
            "seat_taken": self._seat_taken,
            "bot_failed": self._bot_failed,
            "host_changed": lambda told: not told.HasField("seat") or self._is_taken(told.seat),
            "deadline_moved": lambda _told: True,
        }
        if kind not in see or not see[kind](told):
            raise self._not_now()

    def _is_taken(self, seat: int) -> bool:
        return 0 <= seat < len(self._seats) and bool(self._seats[seat].occupant)

    def _ready_changed(self, told: event_pb2.ReadyChanged) -> bool:
        if not self._is_taken(told.seat) or self._state.phase is Phase.PLAYING:
            return False
        if self._rounds:
            return not told.nonce
        self._seats[told.seat].nonce = told.nonce
        return bool(told.ready or not told.nonce) and bool(self._open or not told.nonce)

    def _nonce_given(self, told: event_pb2.NonceGiven) -> bool:
        if not self._is_taken(told.seat) or self._state.phase is Phase.PLAYING:
            return False
        seat = self._seats[told.seat]
        seat.nonce = told.nonce
        return bool(told.nonce) and self._rounds > 0 and not seat.substituted

    def _substitute_seated(self, told: event_pb2.SubstituteSeated) -> bool:
        if told.seat not in self._players:
            return False
        seat = self._seats[told.seat]
        seat.substituted, seat.nonce = True, b""
        seat.abandoned = told.reason == event_pb2.LEAVE_REASON_LEFT
        return True

    def _seat_resumed(self, told: event_pb2.SeatResumed) -> bool:
        was = self._is_taken(told.seat) and self._seats[told.seat].substituted
        if was:
            self._seats[told.seat].substituted = self._seats[told.seat].abandoned = False
        return was

    def _seat_taken(self, told: event_pb2.SeatTaken) -> bool:
        number = told.seat.seat
        if not self._is_taken(number) or not self._seats[number].abandoned:
            return False
        self._seats[number].CopyFrom(told.seat)
        return True

    def _bot_failed(self, told: event_pb2.BotFailed) -> bool:
        due = self._decision
        self._failed = told.seat
        return due is not None and self._players[due.seat] == told.seat


def _promised(deal: event_pb2.DealStarted) -> bytes:
    """The commitment that the deal follows from; empty when there was none."""
    return deal.source.commitment or deal.commitment


def _nonces(deal: event_pb2.DealStarted) -> list[bytes]:
    return list(deal.source.nonces if deal.HasField("source") else deal.nonces)


def _promise_of(told: event_pb2.DealCommitted) -> table_pb2.DealSource:
    """What a commitment by deal/2 may say."""
    return table_pb2.DealSource(commitment=told.source.commitment, rounds=told.source.rounds)


def _copy_of(view: table_pb2.TableView) -> table_pb2.TableView:
    return table_pb2.TableView.FromString(view.SerializeToString())
