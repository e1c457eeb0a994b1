"""The procedure of docs/fair-deal.md: its vectors come from a separate, naive program."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from odin_engine.cards import DECK, Colour
from odin_engine.fair_deal import (
    MAX_ROUNDS,
    commitment,
    draw_deal,
    draw_first,
    key_rounds,
    word,
)

FOLDER = Path(__file__).parent / "fair_deal"
VECTORS: list[dict[str, Any]] = json.loads((FOLDER / "vectors.json").read_text())
VECTORS_2: list[dict[str, Any]] = json.loads((FOLDER / "vectors_2.json").read_text())
"""Of `deal/2`."""
SECRET = bytes(range(32))


@pytest.mark.parametrize(
    "vector", [*VECTORS, *VECTORS_2], ids=lambda vector: vector["commitment"][:8]
)
def test_the_vectors_of_the_specification(vector: dict[str, Any]) -> None:
    secret = bytes.fromhex(vector["secret"])
    nonces = [bytes.fromhex(nonce) for nonce in vector["nonces"]]
    promised = vector.get("rounds", 0)
    assert commitment(secret, promised).hex() == vector["commitment"]
    assert word(commitment(secret, promised), vector["seats"], nonces) == vector["word"]
    rounds = key_rounds(promised, has_person=vector.get("has_person", True))
    assert rounds == vector.get("key_rounds", 0)
    if vector["deal"] == 1:
        short = vector["short_deck"]
        first, order = draw_first(secret, nonces, short_deck=short, rounds=rounds)
        assert first.first_opener == vector["first_opener"]
        assert [colour.value for colour in first.removed] == vector["removed"]
    else:
        removed = [Colour(letter) for letter in vector["removed"]]
        number = vector["deal"]
        order = draw_deal(secret, nonces, deal_number=number, removed=removed, rounds=rounds)
    assert [str(card) for card in order] == vector["order"]


@pytest.mark.parametrize("vectors", [VECTORS, VECTORS_2], ids=["deal/1", "deal/2"])
def test_the_vectors_cover_first_and_later_deals_short_decks_and_all_numbers_of_players(
    vectors: list[dict[str, Any]],
) -> None:
    assert {len(vector["nonces"]) for vector in vectors} == {2, 3, 4, 5, 6}
    assert {vector["deal"] == 1 for vector in vectors} == {True, False}
    assert any(vector["short_deck"] for vector in vectors)
    assert any(vector["removed"] and vector["deal"] > 1 for vector in vectors)


def test_the_vectors_cover_deals_with_people_and_without() -> None:
    assert {vector["key_rounds"] for vector in VECTORS_2} == {1, 1_000, 100_000, 250_000}
    assert {vector["has_person"] for vector in VECTORS_2} == {True, False}


def test_the_specification_names_every_field_of_the_vectors() -> None:
    page = (Path(__file__).parents[2] / "docs/fair-deal.md").read_text(encoding="utf-8")
    table = page.partition("## The test vectors")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (both|`deal/2`) \|", table, flags=re.MULTILINE)
    in_both = {
        name for names, forms in rows if forms == "both" for name in names[1:-1].split("`, `")
    }
    in_deal_2 = {name for names, _ in rows for name in names[1:-1].split("`, `")}
    assert {field for vector in VECTORS for field in vector} == in_both
    assert {field for vector in VECTORS_2 for field in vector} == in_deal_2


def test_every_input_changes_the_order() -> None:
    orders = {
        draw_deal(SECRET, [b"", b""], deal_number=2, removed=()),
        draw_deal(SECRET, [b"", b""], deal_number=3, removed=()),
        draw_deal(SECRET, [b"a", b""], deal_number=2, removed=()),
        draw_deal(SECRET, [b"", b"a"], deal_number=2, removed=()),
        draw_deal(SECRET, [b"", b"", b""], deal_number=2, removed=()),
        draw_deal(SECRET[::-1], [b"", b""], deal_number=2, removed=()),
        draw_deal(SECRET, [b"", b""], deal_number=2, removed=(), rounds=1),
        draw_deal(SECRET, [b"", b""], deal_number=2, removed=(), rounds=2),
    }
    assert len(orders) == 8
    assert all(sorted(order) == list(DECK) for order in orders)


def test_no_card_prefers_a_place() -> None:
    deals = 2_000
    first = Counter(
        draw_deal(SECRET, [b"", b""], deal_number=2 + n, removed=())[0] for n in range(deals)
    )
    expected = deals / len(DECK)
    chi_squared = sum((first[card] - expected) ** 2 / expected for card in DECK)
    # 53 degrees of freedom: 99 is the 0.9999 quantile. The input is fixed, so this never flickers.
    assert chi_squared < 99


@pytest.mark.parametrize("secret", [b"", SECRET[:31], SECRET + b"x"])
def test_a_secret_of_the_wrong_length_is_refused(secret: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        commitment(secret)
    with pytest.raises(ValueError, match="32 bytes"):
        draw_first(secret, [b"", b""], short_deck=False)


def test_a_nonce_that_is_too_long_and_a_deal_number_that_is_too_low_are_refused() -> None:
    with pytest.raises(ValueError, match="nonce"):
        draw_deal(SECRET, [b"", bytes(33)], deal_number=2, removed=())
    with pytest.raises(ValueError, match="draw_first"):
        draw_deal(SECRET, [b"", b""], deal_number=1, removed=())


def test_everything_that_a_deal_follows_from_changes_commitment_and_word() -> None:
    assert len({commitment(SECRET), commitment(SECRET, 1), commitment(SECRET, 2)}) == 3
    promised = commitment(SECRET, 2)
    words = {
        word(promised, [0, 1], [b"a", b""]),
        word(promised, [0, 1], [b"", b"a"]),
        word(promised, [0, 2], [b"a", b""]),
        word(commitment(SECRET, 1), [0, 1], [b"a", b""]),
    }
    assert len(words) == 4


@pytest.mark.parametrize("rounds", [-1, MAX_ROUNDS + 1])
def test_rounds_that_nobody_computes_are_refused(rounds: int) -> None:
    with pytest.raises(ValueError, match="rounds"):
        draw_deal(SECRET, [b"", b""], deal_number=2, removed=(), rounds=rounds)
    with pytest.raises(ValueError, match="four bytes"):
        commitment(SECRET, 1 << 32)
