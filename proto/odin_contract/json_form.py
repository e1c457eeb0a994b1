"""Messages of the contract from JSON, without guessing.

protobuf's own reader, told to step over unknown fields, steps over the names of enum values that it
does not know as well, takes `[]` and `"x"` for empty messages, and drops characters that are not
base64. So `{"visibility": "PRIVATE"}` would open a public table. Here unknown fields are stepped
over, since the other side may be newer; everything else that makes no sense is an error that says
where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")


class JsonError(ValueError):
    """Text that is not JSON, or JSON that is not this message."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        """Where in the message, in the names of the contract; empty for all of it."""
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


def parsed(text: str | bytes) -> object:
    """The value of JSON text. Raises JsonError, also for a key that is there twice."""
    try:
        decoded = text if isinstance(text, str) else text.decode()
        return json.loads(decoded, object_pairs_hook=_without_repetition)
    except JsonError:
        raise
    except (ValueError, RecursionError) as error:
        raise JsonError("", f"This is not JSON: {error}.") from error


def fill(message: Message, value: object) -> None:
    """Sets the fields of a message that is empty from the value of JSON. Raises JsonError."""
    _check_message(value, cast("Descriptor", message.DESCRIPTOR), "")
    try:
        json_format.ParseDict(cast("dict[str, Any]", value), message, ignore_unknown_fields=True)
    except (json_format.ParseError, ValueError, TypeError) as error:
        name = message.DESCRIPTOR.name
        raise JsonError("", f"This is not a {name} in JSON: {error}") from error


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonError("", f"{json.dumps(twice)} is there twice.")
    return found


def _check_message(value: object, descriptor: Descriptor, path: str) -> None:
    if descriptor.full_name.startswith("google.protobuf."):
        return  # such as a time, which is text in JSON: the reader knows them
    if not isinstance(value, dict):
        raise JsonError(path, f"A {descriptor.name} is an object, {{...}}.")
    seen = set[str]()
    for key, part in cast("dict[str, object]", value).items():
        field = _field(descriptor, key)
        if field is None:
            continue
        where = f"{path}.{field.name}" if path else field.name
        if field.name in seen:
            raise JsonError(where, "It is there twice.")
        seen.add(field.name)
        if part is None:
            continue  # as if it were not there
        for where_in_it, kind, one in _parts(field, part, where):
            _check_part(one, kind, where_in_it)


def _field(descriptor: Descriptor, key: str) -> FieldDescriptor | None:
    """The field with this name, in either of its spellings."""
    by_name = descriptor.fields_by_name.get(key)
    return by_name or descriptor.fields_by_camelcase_name.get(key)


def _parts(
    field: FieldDescriptor, value: object, path: str
) -> Iterator[tuple[str, FieldDescriptor, object]]:
    """The value, or what is in a list or a map: each with its path and what it has to be."""
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        if not isinstance(value, dict):
            raise JsonError(path, "It is an object, {...}.")
        for key, one in cast("dict[str, object]", value).items():
            yield f"{path}[{json.dumps(key)}]", entry.fields_by_name["value"], one
    elif not field.is_repeated:
        yield path, field, value
    elif not isinstance(value, list):
        raise JsonError(path, "It is a list, [...].")
    else:
        for index, one in enumerate(cast("list[object]", value)):
            yield f"{path}[{index}]", field, one


def _check_part(value: object, field: FieldDescriptor, path: str) -> None:
    if field.message_type is not None:
        _check_message(value, field.message_type, path)
    elif field.enum_type is not None:
        _check_enum(value, field.enum_type, path)
    elif field.type == FieldDescriptor.TYPE_BYTES and not (
        isinstance(value, str) and _BASE64.fullmatch(value)
    ):
        raise JsonError(path, "It is text in base64.")


def _check_enum(value: object, enum: EnumDescriptor, path: str) -> None:
    # By number as well, as protobuf allows; True is no number here.
    is_known = (isinstance(value, str) and value in enum.values_by_name) or (
        type(value) is int and value in enum.values_by_number
    )
    if not is_known:
        shown = json.dumps(value)[:40]
        raise JsonError(path, f"{shown} is not a {enum.name}. An example: {enum.values[-1].name}.")
