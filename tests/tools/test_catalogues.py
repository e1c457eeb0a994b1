"""The catalogues of the languages are whole, and every build has them."""

from __future__ import annotations

import gettext
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import catalogues
import click
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from odin_cli.speech.languages import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
PATHS = sorted(catalogues.CLIENT.glob(catalogues.CATALOGUES))


def test_every_language_but_english_has_a_catalogue() -> None:
    assert {path.parts[-3] for path in PATHS} == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.parts[-3]))
def test_a_catalogue_has_every_text_of_the_source_and_no_other(path: Path) -> None:
    assert list(catalogues.findings(path, catalogues.template())) == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.parts[-3]))
def test_what_was_compiled_is_what_the_catalogue_says(path: Path) -> None:
    fresh = io.BytesIO()
    write_mo(fresh, catalogues.read(path))
    said = "this is old: run `make catalogues`"
    assert path.with_suffix(".mo").read_bytes() == fresh.getvalue(), said


@pytest.mark.parametrize(
    ("translation", "finding"),
    [
        ("", "not translated"),
        ("{nom} est là.", "the named places differ"),
        ("{name est là.", "the named places differ"),
        ("{name} est là. ", "blanks at the ends differ"),
    ],
)
def test_a_mistake_in_a_translation_is_found(
    tmp_path: Path, translation: str, finding: str
) -> None:
    path = tmp_path / "odin-table.po"
    path.write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
        f'msgid "{{name}} is here."\nmsgstr "{translation}"\n',
        encoding="utf-8",
    )
    wanted = Catalog()
    wanted.add("{name} is here.")
    (found,) = catalogues.findings(path, wanted)
    assert finding in found
    wanted.add("Another text.")
    assert any("lacks" in found for found in catalogues.findings(path, wanted))
    assert any("any more" in found for found in catalogues.findings(path, Catalog()))


def test_texts_in_f_strings_count_and_texts_that_are_none_are_refused(tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text("f\" {_('one')} \"\nngettext('a', 'b', 2)\n")
    assert catalogues.texts_in(tmp_path) == {("one",), ("a", "b")}
    code.write_text("_(name)")
    with pytest.raises(ValueError, match=r"code\.py:1: _ takes literal texts"):
        catalogues.texts_in(tmp_path)


def test_what_is_translated_of_click_is_what_click_says() -> None:
    folder = Path(str(click.__file__)).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    unescaped = source.replace('\\"', '"')
    for text in (form for forms in catalogues.OF_CLICK for form in forms):
        assert f'"{text}"' in unescaped


def test_a_built_wheel_speaks_french(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        name = "odin_cli/speech/locale/fr/LC_MESSAGES/odin-table.mo"
        translations = gettext.GNUTranslations(io.BytesIO(content.read(name)))
    assert translations.gettext("YOUR TURN") == "À VOUS"
