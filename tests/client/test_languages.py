"""Which language is spoken, and that everything that a person reads is in it."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest

from odin_cli.speech import languages, words
from odin_cli.speech.languages import ENGLISH, _, chosen, ngettext, use
from odin_cli.speech.rules_text import rules_text
from odin_client.errors import Refused
from odin_engine import Card
from tests.support.programs import Programs


@pytest.fixture
def french() -> Generator[None]:
    use("fr")
    yield
    use(ENGLISH)


@pytest.mark.parametrize(
    ("option", "environment", "language"),
    [
        (None, {}, "en"),
        (None, {"LANG": "fr_FR.UTF-8"}, "fr"),
        (None, {"LANG": "fr_FR.UTF-8", "LC_MESSAGES": "en_GB"}, "en"),
        (None, {"LC_MESSAGES": "en_GB", "LC_ALL": "fr"}, "fr"),
        (None, {"LC_ALL": "C", "LANG": "fr_FR"}, "en"),
        (None, {"LC_ALL": "", "LANG": "fr-CA"}, "fr"),
        (None, {"ODIN_LANG": "fr", "LC_ALL": "en_US.UTF-8"}, "fr"),
        ("en", {"ODIN_LANG": "fr"}, "en"),
        ("fr", {"LC_ALL": "C"}, "fr"),
        (None, {"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_option_then_the_environment_choose_the_language(
    option: str | None, environment: dict[str, str], language: str
) -> None:
    assert chosen(option, environment) == language


@pytest.mark.usefixtures("french")
def test_french_is_spoken_with_its_own_order_plurals_and_blanks() -> None:
    assert words.card_name(Card.parse("B9")) == "9 bleu"
    assert words.cards_counted(0) == "0 carte"
    assert words.cards_counted(1) == "1 carte"
    assert words.cards_counted(2) == "2 cartes"
    assert _("Another game? Enter asks for a rematch.").startswith(
        "Une autre partie\N{NO-BREAK SPACE}?"
    )
    assert "R O Y G B V" in rules_text()


def test_what_no_catalogue_knows_is_said_in_english() -> None:
    use("xx")
    try:
        assert _("YOUR TURN") == "YOUR TURN"
        assert ngettext("{count} card", "{count} cards", 2) == "{count} cards"
    finally:
        use(ENGLISH)


@pytest.mark.parametrize("arguments", [("--lang", "fr", "rules"), ("rules", "--lang=fr")])
def test_the_language_may_stand_anywhere_on_the_command_line(
    programs: Programs, arguments: tuple[str, ...]
) -> None:
    assert "LES RÈGLES" in programs.run(*arguments).out[0]


def test_help_and_errors_are_french(programs: Programs) -> None:
    helped = programs.run("--lang", "fr", "join", "--help")
    assert "Usage" in helped.out[0]
    assert "Prendre place à une table, ou retrouver sa place." in "\n".join(helped.out)
    refused = programs.run("--lang", "fr", "join", "127.0.0.1:1", "--name", "Zoe")
    assert refused.end() == 3
    assert any("Aucun serveur ne répond à 127.0.0.1:1" in line for line in refused.errors)
    unknown = programs.run("--lang", "de", "rules")
    assert unknown.end() == 2


@pytest.mark.usefixtures("french")
def test_a_refusal_is_french_and_names_the_rule() -> None:
    refused = Refused("ILLEGAL_ACTION", "44 does not beat 64.", {"rule": "R9"})
    assert refused.message == "Les règles l’interdisent (R9)."
    assert str(Refused("TABLE_FULL", "There is no seat.")).startswith("Toutes les places")
    assert Refused("INVALID_OPTION", "There are no 7 seats.").message == "There are no 7 seats."


def test_in_english_a_refusal_keeps_the_words_of_the_server() -> None:
    assert Refused("ILLEGAL_ACTION", "44 does not beat 64.").message == "44 does not beat 64."


def test_json_mode_is_the_same_in_every_language(programs: Programs) -> None:
    game = programs.start("--lang", "fr", "play", "--bots", "1", "--pace", "0", "--ui", "json")
    game.next_json("watchTable")
    game.type("nonsense")
    assert "JSON" in game.next_json("error")["message"]
    assert not any("\N{NO-BREAK SPACE}" in line for line in game.out)


@pytest.mark.parametrize(
    "wrong",
    [
        r"\bsi (vous |elle |on )?\w+(riez|rait)\b",  # a condition is in the present, or in the past
        r"\b[Ss]’il \w+rait\b",
        r"justificatif",  # a credential is an identifiant
        r"(?<!en a )\ble moins gagne",  # who has the fewest
        r"table (finit|a fermé)",
        r"\bp encore|Entrée encore",  # again is à nouveau
        r"bots assis",
        r"souris ou non",
    ],
)
def test_french_mistakes_that_readers_found_do_not_come_back(wrong: str) -> None:
    french = Path(languages.__file__).parent / "locale/fr/LC_MESSAGES/odin-table.po"
    texts = french.read_text(encoding="utf-8").replace('"\n"', "")
    assert not re.findall(rf".*{wrong}.*", texts)
