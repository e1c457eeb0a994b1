"""The limits of the contract are those of the rules."""

from odin_contract import limits
from odin_engine import rules


def test_seats_and_thresholds_are_those_of_the_rules() -> None:
    assert range(rules.MIN_PLAYERS, rules.MAX_PLAYERS + 1) == limits.SEATS
    assert limits.THRESHOLDS == rules.THRESHOLDS
    assert limits.DEFAULT_THRESHOLD == rules.DEFAULT_THRESHOLD
