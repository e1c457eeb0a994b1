"""Tables that are read in both directions, and the error for what is not in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Generic, TypeVar

Ours = TypeVar("Ours")
Number = TypeVar("Number", bound=int)


class NotUnderstoodError(Exception):
    """A message says something that the contract does not allow, such as a card that is none."""

    def __init__(self, problem: str, field: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.field = field
        """Where in the message that was read, if more than one field can be wrong."""


class TwoWay(Generic[Ours, Number]):
    """A value of ours for each number of the contract, and back.

    Without the 0 of an enum of the contract, which stands for nothing.
    """

    def __init__(self, name: str, table: Mapping[Ours, Number]) -> None:
        self.name: Final = name
        """What the numbers name, in an error."""
        self._numbers: Final = dict(table)
        self._values: Final = {int(number): value for value, number in table.items()}
        assert len(self._values) == len(table), f"a number of {name} is there twice"

    def __iter__(self) -> Iterator[tuple[Ours, Number]]:
        return iter(self._numbers.items())

    def number(self, value: Ours) -> Number:
        """The number of this value in the contract."""
        return self._numbers[value]

    def numbers(self, values: Iterable[Ours]) -> list[Number]:
        """The numbers of these values in the contract."""
        return [*map(self._numbers.__getitem__, values)]

    def get(self, number: int) -> Ours | None:
        """The value of this number; None for one that is not in the table."""
        return self._values.get(number)

    def known(self, numbers: Iterable[int]) -> tuple[Ours, ...]:
        """The values of these numbers, without those that are not in the table."""
        return tuple(self._values[number] for number in numbers if number in self._values)

    def value(self, number: int, field: str = "") -> Ours:
        """The value of this number. Raises NotUnderstoodError for one that is not in the table."""
        try:
            return self._values[number]
        except KeyError:
            problem = f"there is no {self.name} {number}, only 1 to {len(self._values)}"
            raise NotUnderstoodError(problem, field) from None

    def values(self, numbers: Iterable[int], field: str = "") -> tuple[Ours, ...]:
        """The values of these numbers. Raises NotUnderstoodError, as `value`."""
        return tuple(self.value(number, field) for number in numbers)
