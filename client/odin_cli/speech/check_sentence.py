"""What the check of a deal has found, in the language that is spoken: in full, and briefly."""

from __future__ import annotations

from odin_cli.speech.languages import _, translated
from odin_client.table import check_sentence as english
from odin_client.table.updates import DealChecked


def check_sentence(checked: DealChecked) -> str:
    """Whether the deal was dealt as the server had promised."""
    return translated(english.check_sentence(checked))


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
