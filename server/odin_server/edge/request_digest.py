"""The digest by which a repeated request is known as the same one, in a form of our own.

It lies in files of tables, so it may never change. Protobuf promises no stable bytes between its
versions; so this is the wire format as we write it: the fields in the order of their numbers,
integers as varints, what this version does not know at the end. That is also what released
versions have hashed, so their requests are known again.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

_VARINT: Final = 0
_BYTES: Final = 2
_VARINTS: Final = frozenset(
    (
        FieldDescriptor.TYPE_INT32,
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_BOOL,
        FieldDescriptor.TYPE_ENUM,
    )
)


def request_digest(request: Message) -> bytes:
    """SHA-256 of the name of the request in the contract and of its canonical form."""
    return hashlib.sha256(request.DESCRIPTOR.name.encode() + canonical(request)).digest()


def canonical(message: Message) -> bytes:
    """The message in the wire format, the same for equal messages, for ever."""
    # ListFields gives what is set in the order of the numbers of the fields.
    known = b"".join(_field(field, value) for field, value in message.ListFields())
    return known + _unknown(UnknownFieldSet(message))


def _field(field: FieldDescriptor, value: Any) -> bytes:
    if not field.is_repeated:
        return _one(field, value)
    if field.type in _VARINTS:
        return _bytes(field.number, b"".join(map(_varint, value)))
    return b"".join(_one(field, one) for one in value)


def _one(field: FieldDescriptor, value: Any) -> bytes:
    match field.type:
        case FieldDescriptor.TYPE_MESSAGE:
            return _bytes(field.number, canonical(value))
        case FieldDescriptor.TYPE_STRING:
            return _bytes(field.number, value.encode())
        case FieldDescriptor.TYPE_BYTES:
            return _bytes(field.number, bytes(value))
        case kind if kind in _VARINTS:
            return _tag(field.number, _VARINT) + _varint(value)
        case _:
            raise NotImplementedError(f"requests have no canonical form with {field.full_name}")


def _unknown(fields: UnknownFieldSet) -> bytes:
    return b"".join(_unknown_field(fields[number]) for number in range(len(fields)))


def _unknown_field(field: Any) -> bytes:
    tag = _tag(field.field_number, field.wire_type)
    match field.wire_type:
        case 0:
            return tag + _varint(field.data)
        case 1:
            return tag + int(field.data).to_bytes(8, "little")
        case 2:
            return _bytes(field.field_number, field.data)
        case 3:
            return tag + _unknown(field.data) + _tag(field.field_number, 4)
        case _:
            return tag + int(field.data).to_bytes(4, "little")


def _bytes(number: int, data: bytes) -> bytes:
    return _tag(number, _BYTES) + _varint(len(data)) + data


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    rest = int(value) & (1 << 64) - 1  # a negative one has ten bytes
    written = bytearray()
    while rest > 127:
        written.append(rest & 127 | 128)
        rest >>= 7
    written.append(rest)
    return bytes(written)
