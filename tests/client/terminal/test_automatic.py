"""What is done by itself, and for whom."""

from __future__ import annotations

from odin_cli.local.preferences import Preferences
from odin_cli.terminal.automatic import PASS_DELAY, by_itself
from odin_contract.values import Pass, PlayCards
from tests.client.terminal.samples import cards, decision

NOTHING_WANTED = Preferences()


def test_a_last_single_card_on_an_empty_centre_goes_by_itself() -> None:
    """R5: it is all that can be played, since an opener may not pass."""
    found = by_itself(decision("R4", ""), cards("R4"), NOTHING_WANTED)
    assert found is not None
    assert found.action == PlayCards(cards("R4"))


def test_a_last_card_that_could_also_pass_is_left_to_the_person() -> None:
    assert by_itself(decision("R9", "G4"), cards("R9"), NOTHING_WANTED) is None


def test_a_hand_of_several_cards_is_left_to_the_person() -> None:
    assert by_itself(decision("R4 R5", ""), cards("R4 R5"), NOTHING_WANTED) is None


def test_going_out_by_itself_is_for_whoever_wants_it() -> None:
    wanted = Preferences(auto_finish=True)
    found = by_itself(decision("B9 B6 B1", "G6 G4"), cards("B9 B6 B1"), wanted)
    assert found is not None
    assert found.action == PlayCards(cards("B9 B6 B1"))
    assert by_itself(decision("B9 B6 R1", "G6 G4"), cards("B9 B6 R1"), wanted) is None


def test_passing_by_itself_is_for_whoever_wants_it_and_takes_its_time() -> None:
    """A quick pass would tell the others that nothing could be played."""
    weak = "R1 O3"
    assert by_itself(decision(weak, "G6 G4"), cards(weak), NOTHING_WANTED) is None
    found = by_itself(decision(weak, "G6 G4"), cards(weak), Preferences(auto_pass=True))
    assert found is not None
    assert found.action == Pass()
    assert found.delay == PASS_DELAY
    assert PASS_DELAY[0] < PASS_DELAY[1]


def test_a_hand_that_can_play_never_passes_by_itself() -> None:
    strong = "B9 B6 R1"
    wanted = Preferences(auto_pass=True, auto_finish=True)
    assert by_itself(decision(strong, "G6 G4"), cards(strong), wanted) is None
