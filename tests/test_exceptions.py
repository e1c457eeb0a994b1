"""Every exception of every package survives what a pool of processes does to it.

Python rebuilds an exception by calling its class with `args`. Where the constructor takes other
parameters that fails, and a pool whose worker raised it waits for ever.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import types
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, cast, get_args, get_origin, get_type_hints

import grpc
import pytest

import odin_cli
import odin_client
import odin_conformance
import odin_engine
import odin_server
import odin_table
from odin_client.errors import Refused
from odin_server.errors import Reason
from odin_server.table.dealing import Drawing

PACKAGES: Final = (odin_engine, odin_server, odin_client, odin_cli, odin_conformance, odin_table)

SAMPLES: Final[dict[object, object]] = {
    str: "a text",
    int: 7,
    bool: True,
    float: 2.5,
    bytes: b"bytes",
    object: ("anything",),
    Mapping: {"rule": "R9"},
    timedelta: timedelta(seconds=3),
    Reason: Reason.RATE_LIMITED,
    Drawing: Drawing(b"secret", (b"nonce",), 100_000, 1),
    grpc.StatusCode: grpc.StatusCode.ABORTED,
    Refused: Refused("NAME_TAKEN", "that name", {"name": "Ann"}, call="TakeSeat", retry_after=1.0),
}
"""A value for each type that a constructor of an exception takes. Add yours."""


def modules() -> Iterator[str]:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):  # to import one is to run it
                yield module.name


def exceptions() -> list[type[BaseException]]:
    """Every exception class of ours, at whatever depth it is defined."""
    for module in modules():
        importlib.import_module(module)
    ours = tuple(package.__name__ for package in PACKAGES)
    found: set[type[BaseException]] = set()
    waiting: list[type[BaseException]] = [BaseException]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if kind not in found:
                found.add(kind)
                waiting.append(kind)
    return sorted(
        (kind for kind in found if kind.__module__.partition(".")[0] in ours),
        key=lambda kind: (kind.__module__, kind.__qualname__),
    )


def sample(annotation: object) -> object:
    """A value of this type."""
    origin = get_origin(annotation)
    if origin is types.UnionType:
        return sample(next(kind for kind in get_args(annotation) if kind is not types.NoneType))
    if annotation not in SAMPLES and origin not in SAMPLES and origin is not None:
        return (sample(get_args(annotation)[0]),)  # of all else there are only sequences
    known = annotation if annotation in SAMPLES else origin
    assert known in SAMPLES, f"add a value of {annotation} to SAMPLES"
    return SAMPLES[known]


def one_of(kind: type[BaseException]) -> BaseException:
    """An exception of this class, made with a value for each parameter that it names."""
    if not isinstance(kind.__init__, types.FunctionType):  # Python's own takes anything
        return kind("a text", 7)
    hints = get_type_hints(kind.__init__)
    positional: list[object] = []
    named: dict[str, object] = {}
    for parameter in inspect.signature(kind).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = sample(hints[parameter.name])
        else:
            positional.append(sample(hints[parameter.name]))
    return kind(*positional, **named)


def content(value: object) -> object:
    """What is compared: exceptions, also those inside others, by class, text and attributes."""
    if isinstance(value, BaseException):
        held = {name: content(of) for name, of in vars(value).items()}
        return type(value), str(value), content(value.args), held
    if isinstance(value, tuple):
        return [content(part) for part in cast("tuple[object, ...]", value)]
    return value


def through_pickle(error: BaseException) -> Any:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("copied", [through_pickle, copy.copy, copy.deepcopy])
def test_every_exception_survives_pickle_and_copies(
    copied: Callable[[BaseException], BaseException],
) -> None:
    lost: list[str] = []
    kinds = exceptions()
    assert len(kinds) > 40
    for kind in kinds:
        error = one_of(kind)
        try:
            if content(copied(error)) != content(error):
                lost.append(f"{kind.__module__}.{kind.__qualname__}: it has changed")
        except Exception as problem:  # noqa: BLE001 -- all of them are listed, not only the first
            lost.append(f"{kind.__module__}.{kind.__qualname__}: {problem}")
    assert not lost, "Let them inherit from CopyableError:\n" + "\n".join(lost)
