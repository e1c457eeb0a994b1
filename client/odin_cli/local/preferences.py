"""What a person wants everywhere, from a file of theirs and from the environment.

The file is `config.toml` where the system keeps the settings of programs (on Linux
`$XDG_CONFIG_HOME/odin-table/config.toml`); docs/config.example.toml shows all of it. Each key has a
variable, `auto_pass` `ODIN_AUTO_PASS` (`languages` reads that of `lang`). An option of the command
line counts more than a variable, a variable more than the file. An empty variable says nothing.
"""

from __future__ import annotations

import ipaddress
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, cast

from odin_cli.speech.languages import _
from odin_client.errors import ClientError
from odin_contract.limits import NAME_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """The settings of one person, with the defaults of whoever sets nothing."""

    name: str = ""
    """At the table. Empty: the login name."""
    lang: str = "auto"
    """The language. auto: that of the system."""
    ui: str = "auto"
    """How to sit at a table. auto: full screen when the terminal can, lines otherwise."""
    color: str = "auto"
    """How many colours the full screen has. auto: as many as the terminal."""
    ascii: bool = False
    """Whether the screen is drawn in ASCII also where more is possible."""
    mouse: bool = True
    """Whether clicks are asked for."""
    bell: bool = True
    """Whether the terminal's bell rings when it is one's turn and one has not typed for a while."""
    sort: str = "colour"
    """How the hand is sorted at first."""
    auto_pass: bool = False
    """Whether to pass by itself when nothing can be played."""
    auto_finish: bool = False
    """Whether to go out by itself when that is possible."""
    pace: float = 1.0
    """Seconds for which the last play of a round or deal stays on the full screen. 0: none."""
    discovery: bool = True
    """Whether tables are announced and looked for on the network."""
    interfaces: tuple[str, ...] = ()
    """The addresses of this machine in the networks that are meant. Empty: all that are real."""


CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "lang": ("auto", "en", "fr"),
    "ui": ("auto", "tui", "line", "json"),
    "color": ("auto", "always", "never", "16", "256", "24"),
    "sort": ("colour", "number"),
}
"""What a setting can be that is one of several words."""

_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("0", "false", "no", "off")
_DEFAULTS: Final = Preferences()
KEYS: Final = tuple(field.name for field in fields(Preferences))


class BadSetting(ClientError):
    """A setting that there is not, or with a value that it cannot have: wrong usage."""


def default_path() -> Path:
    """Where the file is, whether or not there is one."""
    from odin_cli.local.state_folder import config_folder  # noqa: PLC0415 -- of no use with another file

    return config_folder() / "config.toml"


def load(environment: Mapping[str, str], path: Path | None = None) -> Preferences:
    """The file, if there is one, and over it the environment; raises BadSetting.

    NO_COLOR and FORCE_COLOR count more than the file's `color`, and less than ODIN_COLOR.
    """
    values = _from_file(path or default_path())
    if environment.get("NO_COLOR") or environment.get("FORCE_COLOR"):
        values.pop("color", None)
    for key in KEYS:
        variable = variable_of(key)
        if key == "lang":
            continue  # `languages` knows more names of languages than the file does
        if text := environment.get(variable):
            values[key] = _checked(key, _from_text(key, text), variable)
    return Preferences(**values)


def variable_of(key: str) -> str:
    """The variable of the environment for this setting."""
    return f"ODIN_{key.upper()}"


def _from_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        if not os.access(path.parent, os.X_OK):  # the home of somebody else, or a part of /proc
            return {}
        raise BadSetting(
            _("The settings in {path} cannot be read: {problem}.").format(
                path=path, problem=error.strerror
            ),
            _("Let yourself read that file, or move it away."),
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(
            _("{path} is not TOML: {problem}.").format(path=path, problem=error),
            _('A line looks like this: name = "Zoe"'),
        ) from error
    for key in content:
        if key not in KEYS:
            raise BadSetting(
                _("{path}: there is no setting {key}.").format(path=path, key=repr(key)),
                _("There are: {keys}.").format(keys=", ".join(KEYS)),
            )
    return {key: _checked(key, value, f"{path}: {key}") for key, value in content.items()}


def _from_text(key: str, text: str) -> object:
    """A variable's text as the file would have it; what cannot be read stays text."""
    match getattr(_DEFAULTS, key):
        case float():
            try:
                return float(text)
            except ValueError:
                return text
        case bool():
            word = text.lower()
            return True if word in _YES else False if word in _NO else text
        case tuple():
            return text.replace(",", " ").split()
        case _:
            return text


def _checked(key: str, value: object, where: str) -> Any:
    """The value, if the setting can have it; raises BadSetting with what it can be."""
    good: Any = None
    match getattr(_DEFAULTS, key):
        case bool():
            good, allowed = value if isinstance(value, bool) else None, _("true or false")
        case float():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            good = (
                float(cast("float", value)) if number and 0 <= cast("float", value) <= 10 else None
            )
            allowed = _("a number of seconds from 0 to 10")
        case tuple():
            good, allowed = _addresses(value), _('a list of addresses, such as ["192.168.1.20"]')
        case _ if key in CHOICES:
            word = str(value)  # 256 is as good as "256"
            good = word if word in CHOICES[key] else None
            allowed = _("one of {words}").format(words=", ".join(CHOICES[key]))
        case _:
            good = _name(value)
            allowed = _("a text of at most {count} characters").format(count=NAME_LENGTH)
    if good is None:
        raise BadSetting(
            _("{where} cannot be {value}.").format(where=where, value=repr(value)),
            _("It has to be {allowed}.").format(allowed=allowed),
        )
    return good


def _name(value: object) -> str | None:
    if not isinstance(value, str) or len(value) > NAME_LENGTH:
        return None
    return value if value.isprintable() or _is_clean(value) else None


def _is_clean(name: str) -> bool:
    """Whether all of it can be seen, or joins what can be: Persian and Hindi have joiners."""
    from odin_engine.plain_text import clean_text  # noqa: PLC0415 -- the engine is rarely needed

    return clean_text(name) == name


def _addresses(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    addresses = tuple(str(address) for address in cast("list[object]", value))
    try:
        for address in addresses:
            ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return addresses
