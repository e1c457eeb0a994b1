"""The language in which people are spoken to: the only place that knows of gettext.

The English sentence is the key, with named places (`"{who} passed."`), and whoever speaks asks at
the moment of speaking, so that nothing is stored in one language:

    _("{who} passed.").format(who=name)
    ngettext("{count} card", "{count} cards", count).format(count=count)

A catalogue is `locale/LANGUAGE/LC_MESSAGES/odin-table.po`; `make catalogues` brings it up to date
and compiles it. The letters of colours, the names of commands and all of JSON mode are the same in
every language. What the SDK says is `Translatable`, and goes through `translated` on its way.
"""

from __future__ import annotations

import gettext
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from odin_client.translatable import Translatable, clause

DOMAIN: Final = "odin-table"
FOLDER: Final = Path(__file__).parent / "locale"

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "fr")

VARIABLES: Final = ("ODIN_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
"""Where a language is looked for when `--lang` names none, first one first."""

_current: gettext.NullTranslations = gettext.NullTranslations()
_spoken = ENGLISH


def chosen(option: str | None, environment: Mapping[str, str]) -> str:
    """The language: of the option, else of the first variable that is set; English if unknown."""
    named = (option, *(environment.get(variable) for variable in VARIABLES))
    wanted = next(filter(None, named), ENGLISH)
    language = wanted.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return language if language in LANGUAGES else ENGLISH


def use(language: str) -> None:
    """Speaks this language from now on. One without a catalogue is English."""
    global _current, _spoken  # noqa: PLW0603 -- a program speaks one language at a time
    _spoken = language
    _current = gettext.translation(DOMAIN, FOLDER, [language], fallback=True)
    # The library of the command line looks its own words up by these.
    gettext.bindtextdomain(DOMAIN, str(FOLDER))
    gettext.textdomain(DOMAIN)
    os.environ["LANGUAGE"] = language


def spoken() -> str:
    """The language that is spoken."""
    return _spoken


def _(message: str, /) -> str:
    """The message in the language that is spoken."""
    return _current.gettext(message)


def ngettext(one: str, many: str, count: int, /) -> str:
    """The message for so many, in the language that is spoken."""
    return _current.ngettext(one, many, count)


def translated(text: str) -> str:
    """A text of the SDK in the language that is spoken; any other text as it is."""
    if not isinstance(text, Translatable) or _spoken == ENGLISH:
        return text
    facts = {
        name: translated(fact) if isinstance(fact, str) else fact
        for name, fact in text.facts.items()
    }
    said = _current.gettext(text.template).format(**facts)
    return clause(said) if text.is_clause else said
