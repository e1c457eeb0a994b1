"""docs/contract.md has all of the contract, is current, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import contract_reference
import pytest
from contract_reference import ROOT, BadContractError, Comments, Page, anchor, described, refusals

PAGE: Final = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")


def without_code(page: str) -> str:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors_of(prose: str) -> list[str]:
    return [anchor(heading) for heading in re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)]


def test_it_is_current() -> None:
    assert contract_reference.main(["--check"]) == 0, "run `make stubs`"


@pytest.mark.parametrize("page", ["contract.md", "write-a-client.md"])
def test_every_link_leads_to_a_heading_or_a_file(page: str) -> None:
    prose = without_code(page)
    anchors = anchors_of(prose)
    assert len(set(anchors)) == len(anchors), "two headings have the same anchor"
    for target in re.findall(r"\]\(([^)]+)\)", prose):
        file, _, fragment = target.partition("#")
        if file.startswith("https:"):
            continue
        assert (ROOT / "docs" / file).exists(), target
        if fragment:
            assert fragment in (anchors_of(without_code(file)) if file else anchors), target


def test_every_call_message_field_and_value_has_its_comment_there() -> None:
    lines = set(PAGE.splitlines())
    for file in described(ROOT / "proto"):
        comments = Comments(file)
        for i, service in enumerate(file.service):
            for k, method in enumerate(service.method):
                assert f"#### {method.name}" in lines
                assert comments.at(6, i, 2, k), method.name
        for i, message in enumerate(file.message_type):
            assert f"### {message.name}" in lines
            assert comments.at(4, i), message.name
            for field in message.field:
                assert re.search(rf"\| (?:· )?`{field.name}` \| .+ \| {field.number} \| \S", PAGE)
        for enum in file.enum_type:
            assert f"### {enum.name}" in lines
            for value in enum.value:
                assert f"`{value.name}`" in PAGE or not value.number


def test_names_are_links_and_english_is_not() -> None:
    files = described(ROOT / "proto")
    names = contract_reference.Names(files)
    assert names.linked("Refusals: GAME_OVER, MALFORMED.") == (
        "Refusals: [GAME_OVER](#game_over), [MALFORMED](#malformed)."
    )
    assert names.linked("Decision.id of WatchTable") == (
        "[Decision.id](#decision) of [WatchTable](#watchtable)"
    )
    assert names.linked("Passed (R10). Card by Card.") == "Passed (R10). Card by Card."
    assert names.linked("a request_id <x> | y") == "a `request_id` &lt;x> \\| y"
    assert names.linked("TableView again", within="TableView") == "TableView again"


def test_a_reason_without_an_example_is_refused() -> None:
    examples = refusals(ROOT / "docs" / "refusals.json")
    del examples["GAME_OVER"]
    with pytest.raises(BadContractError, match="GAME_OVER"):
        Page(described(ROOT / "proto"), examples).text()


def test_a_folder_without_a_contract_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert contract_reference.main(["--root", str(tmp_path)]) == 1
    assert "no .proto file" in capsys.readouterr().err
