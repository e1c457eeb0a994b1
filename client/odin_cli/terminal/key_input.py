"""Key sequences, told apart from keys: what a terminal sends is read as whole sequences (ECMA-48).

prompt_toolkit gives a sequence that it does not know as Esc and letters, and letters are commands
here; a few that it half knows end the program. So a sequence is read to its end first. What is
known is handed on, the numeric keypad types its digits, and all the rest is stepped over.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from prompt_toolkit.input import Input
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.bindings.mouse import typical_mouse_events
from prompt_toolkit.keys import Keys

_ESC: Final = "\x1b"
_CSI: Final = "\x1b["
_OLD_MOUSE: Final = "\x1b[M"
"""Begins a report in the form of X10: three characters follow."""
_STRINGS: Final = "]P^_X"
"""After Esc: begins a string (OSC, DCS, PM, APC, SOS), an answer of the terminal."""
_PASTE_END: Final = "\x1b[201~"
_CTRL_C: Final = "\x03"

_MAX_LENGTH: Final = 64
"""Characters of a sequence that are kept; no known one is as long."""

# In the forms of SGR and of urxvt; without their numbers both are the beginning of a colour.
# In the form of SGR, and in that of urxvt.
_MOUSE: Final = re.compile(r"\x1b\[(?:<\d{1,9};\d{1,9};\d{1,9}[Mm]|\d{1,9};\d{1,9};\d{1,9}M)")

_KEYPAD: Final = {
    f"{_ESC}O{final}": key
    for final, key in zip("XjklmnopqrstuvwxyM", "=*+,-./0123456789\r", strict=True)
}
"""The numeric keypad in application mode."""


def read_whole_sequences(source: Input) -> None:
    """Lets this input step over the key sequences that nothing here knows."""
    if sys.platform == "win32":  # its console sends no sequences
        return
    from prompt_toolkit.input.vt100 import Vt100Input  # noqa: PLC0415 -- not to be had there

    if isinstance(source, Vt100Input):
        source.vt100_parser = SequenceParser(source.vt100_parser.feed_key_callback)


class SequenceParser(Vt100Parser):
    """Hands keys and known sequences to the parser of prompt_toolkit, and no others."""

    _held = ""
    """A sequence that has begun; of a string its beginning and its last character."""

    def feed(self, data: str) -> None:
        """Takes what was typed or sent."""
        for at, char in enumerate(data):
            if self._in_bracketed_paste:
                self._feed_paste(data[at:])
                return
            self._take(char)

    def flush(self) -> None:
        """Nothing followed for a while: a lone Esc is a key then, and so is Alt with a key.

        The rest of a longer sequence is still on its way, over a slow line; until a key that can be
        no part of it is pressed.
        """
        held = self._held
        if len(held) <= len(_CSI):
            self._held = ""
            self._hand_on(held[:1])
            super().feed(held[1:])
        elif held.startswith(_OLD_MOUSE):
            self._held = ""
        elif held[-1] == _ESC:
            self._held = ""
            self._hand_on(_ESC)
        super().flush()

    def _feed_paste(self, text: str) -> None:
        # A paste whose end was lost must not swallow the key that quits.
        before, interrupt, after = text.partition(_CTRL_C)
        if interrupt and _PASTE_END not in text:
            text = f"{before}{_PASTE_END}{interrupt}{after}"
        text = "".join(char for char in text if not _is_no_text(char))
        super().feed(text)  # and what follows the paste comes back to `feed`

    def _take(self, char: str) -> None:
        held = self._held
        if not held:
            self._begin(char)
        elif char == _ESC:
            if held == _ESC:
                self._hand_on(_ESC)
            # Within a string it begins the end, else a sequence was broken off by another one.
            ends = held[1:2] in tuple(_STRINGS) and held[-1] != _ESC
            self._held = held[:2] + _ESC if ends else _ESC
        elif held == _ESC:
            self._take_second(char)
        elif held[1] in _STRINGS:
            self._take_of_string(char)
        else:
            self._take_of_sequence(char)

    def _begin(self, char: str) -> None:
        if char == _ESC:
            self._held = char
        elif "\x80" <= char <= "\x9f":  # the same introducers in one character (C1)
            self._held = _ESC + chr(ord(char) - 0x40)
            if self._held[1] not in f"[O{_STRINGS}":
                self._held = ""
        elif not _is_no_text(char):
            super().feed(char)

    def _take_second(self, char: str) -> None:
        self._held = ""
        if char in f"[O{_STRINGS}":
            self._held = _ESC + char
        elif _ESC + char in ANSI_SEQUENCES:
            self._hand_on(_ESC + char)
        else:  # Esc, then a key; or Alt with a key, which is the same
            self._hand_on(_ESC)
            self._take(char)

    def _take_of_string(self, char: str) -> None:
        if self._held[-1] == _ESC:
            self._held = ""
            if char != "\\":  # the string was broken off by another sequence
                self._take_second(char)
        elif char >= " ":
            self._held = self._held[:2] + char
        else:
            self._held = ""
            if char != "\a":  # the string was broken off by a key
                self._take(char)

    def _take_of_sequence(self, char: str) -> None:
        held = self._held
        whole = held + char
        if char < " ":  # the sequence was broken off by a key
            self._held = ""
            self._take(char)
        elif held.startswith(_OLD_MOUSE):
            self._held = whole if len(whole) < len(_OLD_MOUSE) + 3 else ""
            if not self._held:
                self._end(whole)
        elif held == _CSI and char in "[M":  # `[`: a function key of the Linux console
            self._held = whole
        elif "@" <= char <= "~":
            self._held = ""
            self._end(whole)
        elif " " <= char <= "?":
            self._held = whole[:_MAX_LENGTH]
        else:
            self._held = ""
            self._take(char)

    def _end(self, sequence: str) -> None:
        """A sequence is whole: it is handed on if it means something here."""
        if key := _KEYPAD.get(sequence):
            super().feed(key)
        elif _is_known(sequence):
            self._hand_on(sequence)

    def _hand_on(self, sequence: str) -> None:
        if sequence:
            super().feed(sequence)
            super().flush()


def _is_no_text(char: str) -> bool:
    """Whether it stands for a byte that is not UTF-8."""
    return "\ud800" <= char <= "\udfff"


def _is_known(sequence: str) -> bool:
    if sequence.startswith(_OLD_MOUSE):
        return ord(sequence[len(_OLD_MOUSE)]) in typical_mouse_events
    # With Alt or Meta some are Esc and a key to prompt_toolkit.
    return isinstance(ANSI_SEQUENCES.get(sequence), Keys) or bool(_MOUSE.fullmatch(sequence))
