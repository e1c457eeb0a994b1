"""Every value of every enum of the contract has its partner on our side, or none on purpose."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest
from google.protobuf.descriptor import EnumDescriptor

import odin_table.v1
from odin_contract import enums
from odin_contract.cards import CARDS, COLOURS
from odin_contract.decisions import DECISION_KINDS
from odin_contract.options import options_message, options_of
from odin_contract.values import Options
from odin_server.errors import Reason
from odin_table.v1 import table_pb2

UNSPECIFIED: Final = {0}


def numbers_of(kind: type[enums.ContractEnum]) -> set[int]:
    return {member.value for member in kind}


def visibilities() -> set[int]:
    return {options_message(Options(private=private)).visibility for private in (False, True)}


PARTNERS: Final[dict[str, Callable[[], set[int]]]] = {
    "Actor": lambda: numbers_of(enums.Actor),
    "Card": lambda: {number for _, number in CARDS} | UNSPECIFIED,
    "CloseReason": lambda: numbers_of(enums.CloseReason),
    "Colour": lambda: {number for _, number in COLOURS} | UNSPECIFIED,
    "DecisionKind": lambda: {number for _, number in DECISION_KINDS} | UNSPECIFIED,
    "ErrorReason": lambda: {reason.value[0] for reason in Reason} | UNSPECIFIED,
    "LeaveReason": lambda: numbers_of(enums.LeaveReason),
    "Occupant": lambda: numbers_of(enums.Occupant),
    "StreamEndReason": lambda: numbers_of(enums.StreamEndReason),
    "TablePhase": lambda: numbers_of(enums.Phase),
    "Visibility": lambda: visibilities() | UNSPECIFIED,
}
"""What we have for each enum of the contract. 0 of the last kind means what the default does."""


def contract_enums() -> dict[str, EnumDescriptor]:
    found: dict[str, EnumDescriptor] = {}
    for path in sorted(Path(odin_table.v1.__path__[0]).glob("*_pb2.py")):
        module = import_module(f"odin_table.v1.{path.stem}")
        found |= module.DESCRIPTOR.enum_types_by_name
    return found


def test_every_enum_of_the_contract_is_looked_at() -> None:
    assert contract_enums().keys() == PARTNERS.keys()


@pytest.mark.parametrize("name", PARTNERS)
def test_every_value_has_its_partner(name: str) -> None:
    assert PARTNERS[name]() == set(contract_enums()[name].values_by_number)


@pytest.mark.parametrize(
    "kind", enums.ContractEnum.__subclasses__(), ids=lambda kind: kind.__name__
)
def test_a_value_is_read_as_it_is_written_and_called_as_in_the_contract(
    kind: type[enums.ContractEnum],
) -> None:
    name = {"Phase": "TablePhase"}.get(kind.__name__, kind.__name__)
    values = contract_enums()[name].values_by_number
    for member in kind:
        assert kind.of(member.value) is member
        assert not member.value or values[member.value].name.endswith(f"_{member.name}")
    assert kind.of(77) is kind.of(0), "of a later version"


def test_a_visibility_that_is_not_said_is_public() -> None:
    unspecified = table_pb2.TableOptions(visibility=table_pb2.VISIBILITY_UNSPECIFIED)
    assert not options_of(unspecified).private
