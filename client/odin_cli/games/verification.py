"""Plays a finished game again from its file, by the rules, and finds what cannot have happened.

Every event is worked out anew from what came before it: by the engine for what the rules decide, by
docs/fair-deal.md for what chance did. What the file says otherwise is a `WrongLineError`. Nobody
can work out again what people chose by themselves: names, times, and which of the legal actions.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message

from odin_cli.games.as_told import action_of, is_default
from odin_cli.games.game_file import SavedGame
from odin_cli.speech.languages import _
from odin_client.errors import CopyableError
from odin_contract import events, reading
from odin_contract.cards import CARDS, COLOURS
from odin_contract.decisions import DECISION_KINDS, choices_message
from odin_contract.enums import PLAYED_BY, Actor, Occupant
from odin_contract.fold import fold, may_follow
from odin_contract.moves import write_move
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import TableView
from odin_engine import (
    NEW,
    CardPickedUp,
    CardsPlayed,
    Command,
    DealStarted,
    Decision,
    GameEnded,
    OdinError,
    Options,
    Phase,
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
        self._actor = Actor.UNKNOWN.value
        self._view = TableView()
        """The table after the line before."""
        self._players: list[int] = []
        self._deal: events.DealStarted | None = None
        self._dealt: DealStarted | None = None

    def run(self) -> Verified:
        """Goes through the file from its first line to its last."""
        try:
            self._view = reading.view_of(self._game.view)
        except NotUnderstoodError as error:
            raise self._no_such() from error
        numbers = [seat.seat for seat in self._view.seats]
        if len(numbers) != self._view.options.seats or numbers != list(range(len(numbers))):
            raise self._no_such()
        lines, previous = self._game.events, None
        for self._line, event in enumerate(lines, start=2):
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
            except (NotUnderstoodError, ValueError, KeyError, IndexError) as error:
                raise self._no_such() from error
            previous = event
        if self._state.phase is not Phase.GAME_OVER or self._due:
            raise self._wrong(_("the game is not over there"))
        return self._found

    def _wrong(self, problem: str) -> WrongLineError:
        return WrongLineError(self._line, problem)

    def _no_such(self) -> WrongLineError:
        return self._wrong(_("there is no such card, colour or seat"))

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
        now = reading.event_of(event)
        self._revealed_in_time(kind, previous)
        if not may_follow(self._view, now):
            raise self._not_now()
        match kind:
            case "game_started":
                self._game_started(told)
            case "deal_started":
                assert isinstance(now, events.DealStarted), "that is how it is read"
                self._deal_started(told, now)
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
            case "bot_failed":
                self._failed = told.seat
            case "table_closed":
                raise self._not_now()
            case _:
                pass  # people decide it
        self._view = fold(self._view, now)

    # What chance decided

    def _game_started(self, told: event_pb2.GameStarted) -> None:
        taken = [seat.seat for seat in self._view.taken_seats]
        self._same(
            told,
            event_pb2.GameStarted(
                game=told.game, seats=taken, removed_colours=told.removed_colours
            ),
        )
        if told.game < 1:
            raise self._not_now()
        self._players = taken
        options = self._view.options
        self._state = NEW._replace(
            options=Options(len(taken), options.threshold, short_deck=options.short_deck)
        )
        self._removed = COLOURS.known(told.removed_colours)

    def _deal_started(self, told: event_pb2.DealStarted, deal: events.DealStarted) -> None:
        if self._state.phase is Phase.NOT_STARTED:
            opener = self._player(told.opener)
            options = self._state.options
            self._do(StartGame(options, self._removed, opener))
            self._due.clear()
        elif self._state.phase is not Phase.BETWEEN_DEALS:
            raise self._not_now()
        order = [*(card for _, hand in deal.hands for card in hand)]
        order += CARDS.values(told.undealt)
        self._do(StartDeal(tuple(order)))
        started = self._due.popleft()
        assert isinstance(started, DealStarted), "that is what starts"
        self._same(
            told,
            event_pb2.DealStarted(
                deal=started.number,
                opener=self._players[started.opener],
                hands=[
                    table_pb2.Hand(seat=seat, cards=CARDS.numbers(started.hand_of(player)))
                    for player, seat in enumerate(self._players)
                ],
                undealt=told.undealt,
                **self._follows_from(),
            ),
        )
        self._deal, self._dealt = deal, started
        self._found.deals += 1
        self._note(deal)

    def _follows_from(self) -> dict[str, Any]:
        """What the start of a deal has to say that it follows from."""
        view = self._view
        if not view.commitment:
            return {}
        nonces = [view.seats[seat].nonce for seat in self._players]
        if not view.rounds:
            return {"commitment": view.commitment, "nonces": nonces}
        source = table_pb2.DealSource(
            commitment=view.commitment,
            rounds=view.rounds,
            nonces=nonces,
            key_rounds=key_rounds(view.rounds, has_person=self._has_person),
        )
        return {"source": source}

    @property
    def _has_person(self) -> bool:
        seats = (self._view.seats[seat] for seat in self._players)
        return any(seat.occupant is Occupant.PERSON for seat in seats)

    def _note(self, deal: events.DealStarted) -> None:
        """What is worth saying of a deal, beside that it adds up."""
        found = self._found
        if not deal.commitment:
            found.uncommitted += 1
            return
        found.added[sum(map(bool, deal.nonces)), len(deal.nonces)] += 1
        found.words.append(word(deal.commitment, self._players, deal.nonces))
        found.weak += self._has_person and deal.key_rounds < ROUNDS

    def _deal_committed(self, told: event_pb2.DealCommitted) -> None:
        self._same(
            told,
            event_pb2.DealCommitted(
                game=self._view.game.game if self._view.game else 0,
                deal=self._state.deal + 1,
                commitment=told.commitment,
                source=_promise_of(told) if told.HasField("source") else None,
            ),
        )
        if told.HasField("source") and (told.commitment or told.source.rounds < 1):
            raise self._not_now()

    def _revealed_in_time(self, kind: str, previous: event_pb2.Event | None) -> None:
        """A deal that was committed to is shown right after its end."""
        deal = self._deal
        ended = previous is not None and previous.HasField("deal_ended")
        if ended and deal and deal.commitment and not kind.endswith("deal_revealed"):
            raise self._wrong(_("the secret of deal {deal} is not shown").format(deal=deal.deal))

    def _deal_revealed(
        self, kind: str, told: event_pb2.DealRevealed, previous: event_pb2.Event | None
    ) -> None:
        deal, dealt = self._deal, self._dealt
        if previous is None or not previous.HasField("deal_ended"):
            raise self._not_now()
        assert deal is not None, "it has ended"
        assert dealt is not None, "it has ended"
        if not deal.commitment or kind != (
            "stretched_deal_revealed" if deal.rounds else "deal_revealed"
        ):
            raise self._not_now()
        self._same(told, event_pb2.DealRevealed(deal=deal.deal, secret=told.secret))
        if commitment(told.secret, deal.rounds) != deal.commitment:
            raise self._wrong(_("that secret is not behind the commitment"))
        rounds, nonces = deal.key_rounds, deal.nonces
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
        worked_out = decision_pb2.Decision(
            id=seq,
            seat=self._players[decision.seat],
            kind=DECISION_KINDS.number(decision.kind),
            may_pass=decision.may_pass,
            deadline=told.deadline if self._view.options.turn_time else None,
            choices=choices_message(decision) if told.HasField("choices") else None,
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
        if actor == Actor.CLOCK.value:
            clocked = self._view.options.turn_time > 0 or self._failed is not None
            allowed = clocked and by_default
        else:
            holder = self._view.seats[int(told.seat)]
            expected = Actor.SUBSTITUTE if holder.substituted else PLAYED_BY[holder.occupant]
            allowed = actor == expected.value and self._failed is None
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
        counts = [hand.bit_count() for hand in self._state.hands]
        if isinstance(event, CardsPlayed):
            # What was played with a pick-up is folded already, so the count is without that.
            counts[event.seat] -= any(isinstance(due, CardPickedUp) for due in self._due)
        follows = event_pb2.Event()
        write_move(follows, event, self._players, counts, self._actor)
        if kind != follows.WhichOneof("payload"):
            raise self._not_now()
        if kind == "deal_ended" and not any(isinstance(due, GameEnded) for due in self._due):
            follows.deal_ended.next_deal_time.CopyFrom(told.next_deal_time)
        self._same(told, getattr(follows, kind))


def _promise_of(told: event_pb2.DealCommitted) -> table_pb2.DealSource:
    """What a commitment by deal/2 may say."""
    return table_pb2.DealSource(commitment=told.source.commitment, rounds=told.source.rounds)
