"""The procedure of docs/fair-deal.md: its vectors come from a separate, naive program."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from odin_engine.cards import DECK, Colour
from odin_engine.fair_deal import commitment, draw_deal, draw_first

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "fair_deal" / "vectors.json").read_text()
)
SECRET = bytes(range(32))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["commitment"][:8])
def test_the_vectors_of_the_specification(vector: dict[str, Any]) -> None:
    secret = bytes.fromhex(vector["secret"])
    nonces = [bytes.fromhex(nonce) for nonce in vector["nonces"]]
    assert commitment(secret).hex() == vector["commitment"]
    if vector["deal"] == 1:
        first, order = draw_first(secret, nonces, short_deck=vector["short_deck"])
        assert first.first_opener == vector["first_opener"]
        assert [colour.value for colour in first.removed] == vector["removed"]
    else:
        removed = [Colour(letter) for letter in vector["removed"]]
        order = draw_deal(secret, nonces, deal_number=vector["deal"], removed=removed)
    assert [str(card) for card in order] == vector["order"]


def test_the_vectors_cover_first_and_later_deals_short_decks_and_all_numbers_of_players() -> None:
    assert {len(vector["nonces"]) for vector in VECTORS} == {2, 3, 4, 5, 6}
    assert {vector["deal"] == 1 for vector in VECTORS} == {True, False}
    assert any(vector["short_deck"] for vector in VECTORS)
    assert any(vector["removed"] and vector["deal"] > 1 for vector in VECTORS)


def test_every_input_changes_the_order() -> None:
    orders = {
        draw_deal(SECRET, [b"", b""], deal_number=2, removed=()),
        draw_deal(SECRET, [b"", b""], deal_number=3, removed=()),
        draw_deal(SECRET, [b"a", b""], deal_number=2, removed=()),
        draw_deal(SECRET, [b"", b"a"], deal_number=2, removed=()),
        draw_deal(SECRET, [b"", b"", b""], deal_number=2, removed=()),
        draw_deal(SECRET[::-1], [b"", b""], deal_number=2, removed=()),
    }
    assert len(orders) == 6
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
