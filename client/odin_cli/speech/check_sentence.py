"""What the check of a deal has found, in a sentence: quiet when it adds up, loud when not."""

from __future__ import annotations

from odin_cli.speech.languages import _
from odin_client.table.updates import DealChecked, DealFault, DealGap


def check_sentence(checked: DealChecked) -> str:
    """Whether the deal was dealt as the server had promised."""
    if checked.faults:
        return _(
            "WARNING: deal {deal} was not dealt as the server had promised: {faults}. "
            "Do not trust this server."
        ).format(deal=checked.deal, faults=", ".join(map(_fault, checked.faults)))
    if not checked.in_full:
        why = [_gap(gap) for gap in checked.gaps]
        if checked.broken_off:
            why.append(_("it was broken off, so that the server's secret was never shown"))
        said = _("Deal {deal} is NOT CHECKED IN FULL: {reasons}.").format(
            deal=checked.deal, reasons=", ".join(why)
        )
        if checked.not_in_full > 1:
            said += " " + _("It is number {count} of such deals.").format(count=checked.not_in_full)
        return said
    if checked.mine:
        said = _(
            "Deal {deal} was checked, word {word}: it follows from the server's secret and the "
            "bytes of {added} of {seats} seats, yours among them."
        )
    elif checked.nonces:
        said = _(
            "Deal {deal} was checked, word {word}: it follows from the server's secret and the "
            "bytes of {added} of {seats} seats."
        )
    else:
        said = _(
            "Deal {deal} was checked, word {word}: it follows from the server's secret, and none "
            "of {seats} seats added bytes."
        )
    said = said.format(
        deal=checked.deal, word=checked.word, added=checked.nonces, seats=checked.seats
    )
    if checked.weak:
        said += " " + _(
            "But its key was hardly stretched: a server could have searched for this deck."
        )
    return said


def check_notice(checked: DealChecked) -> str:
    """The same where there is little room and the sentence is to be read elsewhere, if at all."""
    if checked.faults:
        return _("WARNING: deal {deal} was not dealt as promised. l says more.").format(
            deal=checked.deal
        )
    if not checked.in_full:
        return _("Deal {deal} is not checked in full. l says more.").format(deal=checked.deal)
    if checked.weak:
        return _("Deal {deal} was checked, with a weak key. l says more.").format(deal=checked.deal)
    return _("Deal {deal} was checked: bytes of {added} of {seats} seats, word {word}.").format(
        deal=checked.deal, added=checked.nonces, seats=checked.seats, word=checked.word
    )


def _gap(gap: DealGap) -> str:
    match gap:
        case DealGap.UNCOMMITTED:
            return _("the server had committed itself to nothing")
        case DealGap.LATE:
            return _("you came when it had started")
        case DealGap.MISSED:
            return _("you have not seen all of it")
        case DealGap.SET_BACK:
            return _("the table was set back, so that what was promised before is void")
        case DealGap.VOID:
            return _("the server says that your bytes are void, since a bot played for you")
        case DealGap.TOO_MANY_ROUNDS:
            return _("its key has more rounds than are computed")


def _fault(fault: DealFault) -> str:
    match fault:
        case DealFault.COMMITMENT:
            return _("the secret is not the promised one")
        case DealFault.REUSED:
            return _("its secret is that of another deal")
        case DealFault.NONCES:
            return _("other bytes went into it than the seats had given")
        case DealFault.OWN_NONCE:
            return _("your bytes are not in it")
        case DealFault.COLOURS:
            return _("other colours had to leave the deck")
        case DealFault.OPENER:
            return _("somebody else had to open")
        case DealFault.CARDS:
            return _("the cards are not those that follow")
        case DealFault.ROUNDS:
            return _("its key was stretched less than it had to be")
        case DealFault.NEVER_REVEALED:
            return _("the secret was not shown")
