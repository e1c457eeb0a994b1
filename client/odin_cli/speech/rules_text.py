"""The rules as `odin-table rules` prints them: in our own words, for players.

The R and D numbers are those that the code, its tests and the contract name; players are not shown
them unless they ask (`odin-table rules --numbers`).
"""

from __future__ import annotations

import re
import textwrap
from typing import Final

from odin_cli.speech.languages import _


def rules_text(width: int = 98, *, numbers: bool = False) -> str:
    """The rules in lines of at most this width, with an empty line after each paragraph."""
    return "\n\n".join(textwrap.fill(text, width) for text in rules_paragraphs(numbers)) + "\n"


_NUMBERS: Final = re.compile(r"\s\([RD]\d+(?:, [RD]\d+)*\)")


def rules_paragraphs(numbers: bool = False) -> tuple[str, ...]:
    """The rules, each paragraph in one line; with the number of each rule if asked for."""
    return tuple(text if numbers else _NUMBERS.sub("", text) for text in _paragraphs())


def _paragraphs() -> tuple[str, ...]:
    return (
        _("HOW TO PLAY"),
        _(
            "Be the first to get rid of your cards. Every card that is left in your hand when "
            "somebody else goes out is a penalty point. The game ends when somebody has 15 of "
            "them (or as many as the table says), and whoever has the fewest wins."
        ),
        _(
            "The cards (R1, R2). There are 54: the numbers 1 to 9 in six colours, one of each. A "
            "card is written colour, then number: R O Y G B V for red, orange, yellow, green, "
            "blue and violet, so R7 is the red seven. Two players leave out two colours, drawn "
            "by chance, unless the table says otherwise."
        ),
        _(
            "The deal (R3, R4). 2 to 6 players get nine cards each; the rest is not used. Play "
            "goes clockwise. Who opens the first deal is drawn by chance; each later deal is "
            "opened by the next player to the left of whoever opened the one before."
        ),
        _(
            "Opening a round (R5, R6). The centre of the table is empty, and you put down one "
            "card. You may not pass. If your whole hand is of one number or of one colour you "
            "may put all of it down instead, and the deal is over."
        ),
        _(
            "Responding (R7, R8, R9). Put down as many cards as lie in the centre, or exactly "
            "one more, and all of yours must be of one number or of one colour. Read their "
            "digits from the highest to the lowest: that is their value. 2 and 8 make 82, three "
            "fives make 555. Your value has to be greater than the one in the centre; equal is "
            "not enough."
        ),
        _(
            "On 64 you may play 82, 99 or 555, but not 9 (too few), 61 (too low) or four cards "
            "(too many)."
        ),
        _(
            "Picking up (R11, R12, R13). After you have responded, take one card of those you "
            "have just beaten into your hand; the others are discarded. You must take one, "
            "unless your hand is empty: then the deal is over. After an opening there is nothing "
            "to take."
        ),
        _(
            "Passing (R10, R14). You may pass whenever you respond, and play again when the turn "
            "comes back to you. When everybody has passed since the last cards were played, the "
            "centre is cleared, and whoever played them opens the next round."
        ),
        _(
            "The end (R15, R16). A deal ends at once when a hand is empty. Everybody gets one "
            "penalty point per card left, whatever its number. When a total reaches the limit "
            "the game is over; the lowest total wins, and equal lowest totals share the victory."
        ),
        _(
            "When somebody does not act (D1), this is done for them: an opener plays the lowest "
            "single card, a responder passes, and a pick-up takes the highest number; among "
            "equals the first colour in the order R O Y G B V."
        ),
        _(
            "Odin is a game by Gary Kim, Hope S. Hwang and Yohan Goh, published by HELVETIQ. "
            "This program is unofficial."
        ),
    )
