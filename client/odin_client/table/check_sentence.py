"""What the check of a deal has found, in a sentence: quiet when it adds up, loud when not."""

from __future__ import annotations

from typing import Final

from odin_client.table.updates import DealChecked, DealFault, DealGap
from odin_client.translatable import Translatable


def check_sentence(checked: DealChecked) -> Translatable:
    """Whether the deal was dealt as the server had promised."""
    if checked.faults:
        return Translatable(
            "WARNING: deal {deal} was not dealt as the server had promised: {faults}. "
            "Do not trust this server.",
            deal=checked.deal,
            faults=Translatable.joined(", ", (_FAULTS[fault] for fault in checked.faults)),
        )
    if not checked.in_full:
        why = [_GAPS[gap] for gap in checked.gaps]
        if checked.broken_off:
            why.append(_BROKEN_OFF)
        said = Translatable(
            "Deal {deal} is NOT CHECKED IN FULL: {reasons}.",
            deal=checked.deal,
            reasons=Translatable.joined(", ", why),
        )
        if checked.not_in_full > 1:
            count = Translatable("It is number {count} of such deals.", count=checked.not_in_full)
            said = Translatable.joined(" ", (said, count))
        return said
    said = _added_up(checked)
    return Translatable.joined(" ", (said, _WEAK)) if checked.weak else said


def _added_up(checked: DealChecked) -> Translatable:
    if checked.mine:
        return Translatable(
            "Deal {deal} was checked, word {word}: it follows from the server's secret and the "
            "bytes of {added} of {seats} seats, yours among them.",
            deal=checked.deal,
            word=checked.word,
            added=checked.nonces,
            seats=checked.seats,
        )
    if checked.nonces:
        return Translatable(
            "Deal {deal} was checked, word {word}: it follows from the server's secret and the "
            "bytes of {added} of {seats} seats.",
            deal=checked.deal,
            word=checked.word,
            added=checked.nonces,
            seats=checked.seats,
        )
    return Translatable(
        "Deal {deal} was checked, word {word}: it follows from the server's secret, and none "
        "of {seats} seats added bytes.",
        deal=checked.deal,
        word=checked.word,
        seats=checked.seats,
    )


_WEAK: Final = Translatable(
    "But its key was hardly stretched: a server could have searched for this deck."
)

_BROKEN_OFF: Final = Translatable("it was broken off, so that the server's secret was never shown")

_GAPS: Final = {
    DealGap.UNCOMMITTED: Translatable("the server had committed itself to nothing"),
    DealGap.LATE: Translatable("you came when it had started"),
    DealGap.MISSED: Translatable("you have not seen all of it"),
    DealGap.SET_BACK: Translatable(
        "the table was set back, so that what was promised before is void"
    ),
    DealGap.VOID: Translatable(
        "the server says that your bytes are void, since a bot played for you"
    ),
    DealGap.TOO_MANY_ROUNDS: Translatable("its key has more rounds than are computed"),
}

_FAULTS: Final = {
    DealFault.COMMITMENT: Translatable("the secret is not the promised one"),
    DealFault.REUSED: Translatable("its secret is that of another deal"),
    DealFault.NONCES: Translatable("other bytes went into it than the seats had given"),
    DealFault.OWN_NONCE: Translatable("your bytes are not in it"),
    DealFault.COLOURS: Translatable("other colours had to leave the deck"),
    DealFault.OPENER: Translatable("somebody else had to open"),
    DealFault.CARDS: Translatable("the cards are not those that follow"),
    DealFault.ROUNDS: Translatable("its key was stretched less than it had to be"),
    DealFault.NEVER_REVEALED: Translatable("the secret was not shown"),
}
