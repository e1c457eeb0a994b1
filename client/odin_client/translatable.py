"""`Translatable`: an English sentence of the SDK that a program can say in another language.

    said = Translatable("No server answers at {server}.", server="192.0.2.7:7711")
    print(said)                                             # in English, as any other text
    print(catalogue[said.template].format(**said.facts))    # in another language

The SDK knows no catalogue. What it says carries what a translation needs, also through pickle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self


class Translatable(str):
    """A text in English with its template and facts. Facts may be translatable as well."""

    template: str
    """The sentence with named places, by which a catalogue finds its translation."""
    facts: Mapping[str, object]
    """What stands in the places, by name."""
    is_clause: bool
    """Whether it is said without the full stop at its end, inside another sentence."""

    def __new__(cls, template: str, /, **facts: object) -> Self:
        """The template with the facts in its places."""
        return cls._made(template.format(**facts), template, facts)

    @classmethod
    def _made(
        cls, english: str, template: str, facts: Mapping[str, object], is_clause: bool = False
    ) -> Self:
        self = super().__new__(cls, english)
        self.template, self.facts, self.is_clause = template, facts, is_clause
        return self

    @classmethod
    def joined(cls, separator: str, texts: Iterable[str]) -> Self:
        """One text after the other. Such a template has no words, and stands in no catalogue."""
        facts = {f"text{number}": text for number, text in enumerate(texts)}
        return cls(separator.join(f"{{{name}}}" for name in facts), **facts)

    def worded(self, english: str) -> Self:
        """The same for other languages; in English these words, which say more."""
        return self._made(english, self.template, self.facts, self.is_clause)

    def as_clause(self) -> Self:
        """See `clause`."""
        return self._made(self.rstrip("."), self.template, self.facts, is_clause=True)

    def __reduce__(self) -> tuple[object, ...]:
        return self._made, (str(self), self.template, self.facts, self.is_clause)


def clause(text: str) -> str:
    """The text without the full stop at its end, to stand inside another sentence."""
    return text.as_clause() if isinstance(text, Translatable) else text.rstrip(".")
