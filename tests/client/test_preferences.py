"""The file of settings, the variables, and what counts more."""

from __future__ import annotations

from pathlib import Path

import pytest

from odin_cli.local.preferences import KEYS, BadSetting, Preferences, load, variable_of
from odin_cli.speech.complaints import exit_code

EXAMPLE = Path(__file__).parents[2] / "docs" / "config.example.toml"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the settings are; not there yet."""
    return tmp_path / "config.toml"


def test_without_a_file_all_is_as_by_default(file: Path) -> None:
    assert load({}, file) == Preferences()


def test_the_example_is_complete_and_holds_the_defaults() -> None:
    assert load({}, EXAMPLE) == Preferences()
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    named = [line.partition(" = ")[0] for line in lines if " = " in line and line[0] != "#"]
    assert named == list(KEYS)


def test_the_file_is_taken(file: Path) -> None:
    file.write_text('name = "Zoé"\ncolor = 256\nauto_pass = true\ninterfaces = ["127.0.0.1"]\n')
    assert load({}, file) == Preferences(
        name="Zoé", color="256", auto_pass=True, interfaces=("127.0.0.1",)
    )


def test_a_variable_counts_more_than_the_file_and_an_empty_one_says_nothing(file: Path) -> None:
    file.write_text('name = "Zoe"\nbell = false\nmouse = false\n')
    environment = {"ODIN_NAME": "Ann", "ODIN_BELL": "1", "ODIN_MOUSE": ""}
    assert load(environment, file) == Preferences(name="Ann", bell=True, mouse=False)


def test_a_name_may_have_the_joiners_of_its_script(tmp_path: Path) -> None:
    name = "\u0645\u06cc\u200c\u0631\u0648\u0645"
    assert load({"ODIN_NAME": name}, tmp_path / "none.toml").name == name


def test_each_setting_has_a_variable(file: Path) -> None:
    texts = {
        "name": "Ann",
        "ui": "line",
        "color": "16",
        "sort": "number",
        "pace": "0",
        "interfaces": "127.0.0.1, ::1",
    }
    flipped = {key: "no" if getattr(Preferences(), key) is True else "yes" for key in KEYS}
    keys = [key for key in KEYS if key != "lang"]  # its variables are those of `languages`
    loaded = load({variable_of(key): (flipped | texts)[key] for key in keys}, file)
    assert all(getattr(loaded, key) != getattr(Preferences(), key) for key in keys)
    assert loaded.interfaces == ("127.0.0.1", "::1")


@pytest.mark.parametrize("variable", ["NO_COLOR", "FORCE_COLOR"])
def test_the_usual_variables_of_colour_count_more_than_the_file(file: Path, variable: str) -> None:
    file.write_text('color = "16"\n')
    assert load({variable: ""}, file).color == "16"
    assert load({variable: "1"}, file).color == "auto"
    assert load({variable: "1", "ODIN_COLOR": "24"}, file).color == "24"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('nmae = "Zoe"', "there is no setting 'nmae'"),
        ("bell = 1", "bell cannot be 1"),
        ('ui = "gui"', "ui cannot be 'gui'"),
        ('sort = "suit"', "sort cannot be 'suit'"),
        ("name = 3", "name cannot be 3"),
        (f'name = "{"x" * 25}"', "name cannot be"),
        ('name = "a\\u001b[2J"', "name cannot be"),
        ('name = "a\\u200d"', "name cannot be"),
        ('interfaces = "127.0.0.1"', "interfaces cannot be '127.0.0.1'"),
        ('interfaces = ["eth0"]', "interfaces cannot be ['eth0']"),
        ("bell = yes", "is not TOML"),
        ("[table]\nname = 1", "there is no setting 'table'"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_its_place(
    file: Path, content: str, said: str
) -> None:
    file.write_text(content)
    with pytest.raises(BadSetting) as wrong:
        load({}, file)
    assert said in wrong.value.message
    assert str(file) in wrong.value.message
    assert wrong.value.advice
    assert exit_code(wrong.value) == 2


def test_a_file_in_another_encoding_or_that_is_a_folder_is_said(file: Path) -> None:
    file.write_bytes(b'name = "Zo\xe9"')
    with pytest.raises(BadSetting, match="is not TOML"):
        load({}, file)
    with pytest.raises(BadSetting, match="cannot be read"):
        load({}, file.parent)


@pytest.mark.parametrize(
    ("variable", "text", "allowed"),
    [
        ("ODIN_BELL", "maybe", "true or false"),
        ("ODIN_UI", "gui", "tui, line, json"),
        ("ODIN_INTERFACES", "eth0", "addresses"),
    ],
)
def test_what_is_wrong_in_a_variable_is_said(
    file: Path, variable: str, text: str, allowed: str
) -> None:
    with pytest.raises(BadSetting, match=f"{variable} cannot be") as wrong:
        load({variable: text}, file)
    assert allowed in wrong.value.advice
