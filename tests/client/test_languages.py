"""Which language is spoken, and that everything that a person reads is in it."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

import pytest

from odin_cli.speech import languages, words
from odin_cli.speech.check_sentence import check_sentence
from odin_cli.speech.complaints import complaint
from odin_cli.speech.languages import ENGLISH, _, chosen, ngettext, translated, use
from odin_cli.speech.rules_text import rules_text
from odin_cli.speech.sentences import link_sentence
from odin_cli.speech.words import seat_name
from odin_client.bots import make_bot
from odin_client.connection.address import Address, BadAddress
from odin_client.errors import BadStrategy, DealtFalsely, Refused, SeatLost
from odin_client.table.check_sentence import check_sentence as english_check
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, DealFault, DealGap, LinkChanged
from odin_client.translatable import Translatable, clause
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
    nowhere = programs.run("--lang", "fr", "join", "a b")
    assert any("n’est pas une adresse" in line for line in nowhere.errors)
    nobody = programs.run("--lang", "fr", "bot", "127.0.0.1:1", "--strategy", "nobody")
    assert nobody.end() == 2
    assert any("Il n’y a pas de stratégie" in line for line in nobody.errors)
    unknown = programs.run("--lang", "de", "rules")
    assert unknown.end() == 2


@pytest.mark.usefixtures("french")
def test_a_refusal_is_french_and_names_the_rule() -> None:
    refused = Refused("ILLEGAL_ACTION", "44 does not beat 64.", {"rule": "R9"})
    assert complaint(refused) == "Les règles l’interdisent (R9)."
    assert complaint(Refused("TABLE_FULL", "There is no seat.")).startswith("Toutes les places")
    assert complaint(Refused("INVALID_OPTION", "There are no 7 seats.")) == "There are no 7 seats."


def test_in_english_a_refusal_keeps_the_words_of_the_server() -> None:
    assert complaint(Refused("ILLEGAL_ACTION", "44 does not beat 64.")) == "44 does not beat 64."


RATE_LIMITED: Final = Refused("RATE_LIMITED", "Too many streams.")
FALSELY: Final = DealChecked(3, faults=(DealFault.CARDS,))

THROUGH: Final[dict[str, Callable[[Any], Any]]] = {
    "as it is": lambda text: text,
    "pickle": lambda text: pickle.loads(pickle.dumps(text)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.usefixtures("french")
@pytest.mark.parametrize("way", THROUGH)
def test_what_the_sdk_says_is_english_and_can_be_translated_wherever_it_has_been(way: str) -> None:
    refused = Refused("ILLEGAL_ACTION", "44 does not beat 64.", {"rule": "R9"})
    illegal = Translatable("chose something illegal: {problem}", problem=clause(refused.message))
    said = Translatable("{problem}; the default action is taken", problem=illegal)
    shown = THROUGH[way](Translatable.joined("\n", (said, "Traceback {not a place}")))
    assert shown == (
        "chose something illegal: 44 does not beat 64; the default action is taken\n"
        "Traceback {not a place}"
    )
    assert translated(shown) == (
        "a choisi un coup interdit\N{NO-BREAK SPACE}: Les règles l’interdisent (R9)"
        "\N{NO-BREAK SPACE}; l’action par défaut est prise\n"
        "Traceback {not a place}"
    )


@pytest.mark.usefixtures("french")
@pytest.mark.parametrize(
    ("said", "words_shown"),
    [
        (lambda: complaint(bad_address("a b")), "n’est pas une adresse"),
        (lambda: complaint(strategy_problem("nobody")), "Il n’y a pas de stratégie"),
        (lambda: complaint(SeatLost(removed=True)), "L’hôte vous a"),
        (
            lambda: link_sentence(
                LinkChanged(
                    online=False, problem=Refused("RATE_LIMITED", "Too many streams.").message
                )
            ),
            "Connexion perdue",
        ),
        (lambda: seat_name(TableModel(), 2), "place 3"),
        (lambda: check_sentence(DealChecked(3, gaps=(DealGap.MISSED,))), "La manche 3"),
        (
            lambda: complaint(
                DealtFalsely(english_check(DealChecked(3, faults=(DealFault.CARDS,))))
            ),
            "ATTENTION",
        ),
    ],
)
def test_every_kind_of_text_of_the_sdk_is_shown_in_french(
    said: Callable[[], str], words_shown: str
) -> None:
    shown = said()
    assert words_shown in shown
    assert not re.search(r"(?i)\b(the|not|is|you|was|too)\b", shown)


def bad_address(text: str) -> BadAddress:
    with pytest.raises(BadAddress) as wrong:
        Address.parse(text)
    return wrong.value


def strategy_problem(name: str) -> BadStrategy:
    with pytest.raises(BadStrategy) as wrong:
        make_bot(name)
    return wrong.value


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
