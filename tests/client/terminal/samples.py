"""Tables to look at: one for each screen of the client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from odin_cli.lan.invitation import qr_lines
from odin_cli.play.selection import Selection
from odin_cli.terminal.views.log import Log
from odin_cli.terminal.views.screen import Page, Question, Screen
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, DealFault, LinkChanged
from odin_contract.enums import Occupant, Phase
from odin_contract.values import (
    Decision,
    Game,
    LegalPlay,
    Options,
    Player,
    Seat,
    SeatPresence,
    TableView,
)
from odin_engine import Card, DecisionKind, legal_plays, set_of

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)

NAMES = ("Ann", "Bob", "Zoe", "Chloé", "fox", "Dagný Ólafsdóttir the 2nd")
ME = 2


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


def seats(*, host: int = 0) -> tuple[Seat, ...]:
    return tuple(
        Seat(
            seat,
            Occupant.BUILT_IN_BOT if name == "fox" else Occupant.PERSON,
            name,
            level="greedy" if name == "fox" else "",
            ready=name != "Zoe",
            host=seat == host,
        )
        for seat, name in enumerate(NAMES)
    )


def decision(hand: str, centre: str, *, seat: int = ME) -> Decision:
    beaten = set_of(cards(centre)) if centre else None
    plays = legal_plays(cards(hand), beaten) if seat == ME else ()
    return Decision(
        id=30,
        seat=seat,
        kind=DecisionKind.RESPOND if centre else DecisionKind.OPEN,
        may_pass=bool(centre),
        plays=tuple(LegalPlay(play, play.count == len(cards(hand))) for play in plays),
        pick_ups=beaten.cards if beaten and seat == ME else (),
    )


def playing(hand: str = "R4 O7 Y8 B9 B6 B1 V4", centre: str = "G6 G4", *, turn: int = ME) -> Screen:
    """A deal of six, where it is this seat's turn; the centre is Chloé's."""
    beaten = set_of(cards(centre)) if centre else None
    counts = (9, 7, len(cards(hand)), 2, 5, 9)
    game = Game(
        game=1,
        deal=3,
        opener=1,
        players=tuple(
            Player(seat, count, passed=seat == 1, penalties=(2, 0, seat), total=2 + seat)
            for seat, count in enumerate(counts)
        ),
        centre=beaten,
        centre_seat=3 if beaten else None,
        hand=tuple(sorted(cards(hand))),
    )
    return screen(
        TableModel(
            TableView(
                table="K7QF",
                log_id="log",
                seq=30,
                options=Options(6, 15, short_deck=True, private=False, open_to_bots=True, title=""),
                phase=Phase.PLAYING,
                seats=seats(),
                my_seat=ME,
                game=game,
                decision=decision(hand, centre, seat=turn),
            ),
            presence={5: SeatPresence(5, connected=False, away_since=NOW)},
        )
    )


def screen(table: TableModel) -> Screen:
    return Screen(
        table,
        address="192.168.1.20:7711",
        invitation="odin-table join K7QF@192.168.1.20",
        log=Log(
            (
                "You passed",
                "Chloé 64 (G6 G4) took Y8",
                "fox passed",
                "Dagný Ólafsdóttir the 2nd passed",
                "Ann passed",
                "Bob passed",
            )
        ),
        levels=("random", "greedy", "hard"),
        now=NOW,
    )


def guided() -> Screen:
    here = playing()
    assert here.table.game is not None
    here.table.view = replace(here.table.view, game=replace(here.table.game, deal=1))
    here.guided = True
    return here


def _chosen(text: str, pick_up: str = "") -> Selection:
    return Selection(cards(text), pick_up=Card.parse(pick_up) if pick_up else None)


def your_turn() -> Screen:
    return playing()


def chosen() -> Screen:
    here = playing()
    here.selection = _chosen("B9 B6 B1", "G4")
    return here


def chosen_badly() -> Screen:
    here = playing()
    here.selection = _chosen("B6 B1")
    here.notice = "Not sent: 61 does not beat 64."
    return here


def which_card() -> Screen:
    here = chosen()
    here.question = Question.PICK_UP
    return here


def picking_up() -> Screen:
    """The play was sent without a pick-up: the server asks (R13)."""
    here = playing(hand="R4 O7 Y8 V4", centre="B9 B6 B1")
    assert here.table.game is not None
    here.table.view = replace(
        here.table.view,
        game=replace(here.table.game, centre_seat=ME),
        decision=Decision(31, ME, DecisionKind.PICK_UP, may_pass=False, pick_ups=cards("G6 G4")),
    )
    here.selection = _chosen("", "G6")
    return here


def really_pass() -> Screen:
    here = playing()
    here.question = Question.PASS
    return here


def hold_back() -> Screen:
    here = playing(hand="B9 B6 B1", centre="G6 G4")
    here.selection = _chosen("B9 B6")
    here.question = Question.HOLD_BACK
    return here


def opening() -> Screen:
    return playing(hand="R4 O7 Y8 B9 B6 B1 V4 R1 R2", centre="")


def others_turn() -> Screen:
    here = playing(turn=4)
    here.selection = _chosen("R4 V4")
    return here


def sending() -> Screen:
    here = chosen()
    here.sent = 30
    return here


def longest_sets() -> Screen:
    """Nine cards in the centre, nine in the hand."""
    return playing(hand="R1 R2 R3 R4 R5 R6 R7 R8 R9", centre="G1 G2 G3 G4 G5 G6 G7 G8 G9", turn=0)


def watching() -> Screen:
    here = playing(turn=4)
    assert here.table.game is not None
    here.table.view = replace(
        here.table.view,
        my_seat=None,
        game=replace(here.table.game, hand=None),
    )
    here.table.watchers = 3
    return here


def reconnecting() -> Screen:
    here = playing()
    here.link = LinkChanged(
        online=False,
        problem="connection refused",
        attempt=3,
        retry_in=2.0,
        kept_until=NOW + timedelta(seconds=107),
    )
    return here


def leaving() -> Screen:
    here = playing()
    here.question = Question.LEAVE
    return here


def host_leaving() -> Screen:
    here = leaving()
    here.table.view = replace(here.table.view, i_am_host=True)
    return here


def leaving_alone() -> Screen:
    here = host_leaving()
    here.ends_with_me = True
    return here


def _with_a_clock(here: Screen, *, left: float) -> Screen:
    """45 seconds a turn and a bank of a minute; two people are away."""
    table = here.table
    assert table.game is not None
    assert table.decision is not None
    table.view = replace(table.view, options=replace(table.options, turn_time=45, bank=60))
    players = (replace(player, bank=timedelta(seconds=60)) for player in table.game.players)
    table.view = replace(
        table.view,
        game=replace(table.game, players=tuple(players)),
        decision=replace(table.decision, deadline=NOW + timedelta(seconds=left)),
    )
    kept = NOW + timedelta(seconds=107)
    table.presence[1] = SeatPresence(1, connected=False, away_since=NOW, kept_until=kept)
    return here


def on_the_clock() -> Screen:
    return _with_a_clock(playing(), left=98)


def hurrying() -> Screen:
    here = _with_a_clock(playing(turn=3), left=9.6)
    here.log = Log(
        ["Bob passed (time was up)", "Bob is away; in 2 minutes a substitute takes over."]
    )
    return here


def waiting() -> Screen:
    here = playing()
    here.table.view = replace(
        here.table.view,
        phase=Phase.WAITING,
        game=None,
        decision=None,
        seats=(*seats(host=ME)[:5], Seat(5)),
        i_am_host=True,
    )
    here.log = Log(["The table was opened.", "Ann sat down.", "Ann: salut!"])
    return here


def inviting() -> Screen:
    here = waiting()
    here.page = Page.INVITE
    here.picture = tuple(qr_lines(here.invitation))
    return here


def options() -> Screen:
    here = waiting()
    here.page = Page.OPTIONS
    here.table.view = replace(
        here.table.view,
        options=replace(here.table.options, title="Longship", private=True),
        code="ABCD2345",
    )
    return here


def between_deals() -> Screen:
    here = playing()
    assert here.table.game is not None
    left = ("R4 V4 Y8", "O9 Y6 G2 B3 V1", "R9 R2 O5 Y4 Y3 G1 B7 V6 V2", "", "G6", "B1 B2")
    here.table.view = replace(
        here.table.view,
        phase=Phase.BETWEEN_DEALS,
        decision=None,
        next_deal_time=NOW + timedelta(seconds=12),
        game=replace(
            here.table.game,
            remaining_hands=tuple((seat, cards(text)) for seat, text in enumerate(left)),
            out_seat=3,
        ),
    )
    here.checked = DealChecked(3, nonces=3, seats=5, mine=True, word="K7QF2M")
    return here


def not_as_promised() -> Screen:
    here = between_deals()
    here.checked = DealChecked(3, (DealFault.COMMITMENT, DealFault.CARDS))
    return here


def game_over() -> Screen:
    here = between_deals()
    assert here.table.game is not None
    here.table.view = replace(
        here.table.view,
        phase=Phase.GAME_OVER,
        next_deal_time=None,
        game=replace(here.table.game, winners=(0,)),
    )
    return here


def rematch_asked() -> Screen:
    """Ann, who has won, has left; Bob wants another game, and this person reads the scores yet."""
    here = game_over()
    assert here.table.game is not None
    players = (replace(one, name=NAMES[one.seat]) for one in here.table.game.players)
    here.table.view = replace(
        here.table.view,
        game=replace(here.table.game, players=tuple(players)),
        phase=Phase.WAITING,
        seats=(Seat(0), *(replace(one, ready=one.seat == 1) for one in seats()[1:])),
    )
    here.reading_scores = True
    return here


def closed() -> Screen:
    here = game_over()
    here.table.view = replace(
        here.table.view,
        phase=Phase.CLOSED,
        decision=None,
    )
    return here


def not_there_yet() -> Screen:
    return screen(TableModel(TableView(table="K7QF")))


def _page(page: Page) -> Callable[[], Screen]:
    def opened() -> Screen:
        here = playing()
        here.page = page
        return here

    return opened


SCREENS: dict[str, Callable[[], Screen]] = {
    "your-turn": your_turn,
    "guided": guided,
    "chosen": chosen,
    "chosen-badly": chosen_badly,
    "which-card": which_card,
    "picking-up": picking_up,
    "really-pass": really_pass,
    "hold-back": hold_back,
    "opening": opening,
    "others-turn": others_turn,
    "sending": sending,
    "longest-sets": longest_sets,
    "watching": watching,
    "reconnecting": reconnecting,
    "on-the-clock": on_the_clock,
    "hurrying": hurrying,
    "leaving": leaving,
    "host-leaving": host_leaving,
    "leaving-alone": leaving_alone,
    "waiting": waiting,
    "inviting": inviting,
    "options": options,
    "between-deals": between_deals,
    "not-as-promised": not_as_promised,
    "game-over": game_over,
    "rematch-asked": rematch_asked,
    "closed": closed,
    "not-there-yet": not_there_yet,
    "help": _page(Page.HELP),
    "rules": _page(Page.RULES),
    "scores": _page(Page.SCORES),
    "log": _page(Page.LOG),
}
