"""Every way in which the server says no, and what each becomes in gRPC: one table.

The reasons are those of `odin_table/v1/error.proto`, in the same order, which is the order in which
they are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from typing import Final

import grpc
from google.protobuf import any_pb2
from google.rpc import (  # pyright: ignore[reportMissingTypeStubs] -- they are there, unmarked
    code_pb2,
    error_details_pb2,
    status_pb2,
)
from grpc_status import rpc_status

from odin_contract.times import duration
from odin_engine import CopyableError, GameIsOver, IllegalAction, NotYourTurn
from odin_table.v1 import error_pb2

DOMAIN: Final = "odin-table"


class Reason(Enum):
    """Why a call was refused: the reasons of the contract, each with its gRPC code."""

    MALFORMED = (error_pb2.ERROR_REASON_MALFORMED, code_pb2.INVALID_ARGUMENT)
    BAD_CREDENTIAL = (error_pb2.ERROR_REASON_BAD_CREDENTIAL, code_pb2.UNAUTHENTICATED)
    CLIENT_TOO_OLD = (error_pb2.ERROR_REASON_CLIENT_TOO_OLD, code_pb2.FAILED_PRECONDITION)
    TABLE_NOT_FOUND = (error_pb2.ERROR_REASON_TABLE_NOT_FOUND, code_pb2.NOT_FOUND)
    TABLE_DAMAGED = (error_pb2.ERROR_REASON_TABLE_DAMAGED, code_pb2.DATA_LOSS)
    NOT_ALLOWED = (error_pb2.ERROR_REASON_NOT_ALLOWED, code_pb2.PERMISSION_DENIED)
    REQUEST_ID_REUSED = (error_pb2.ERROR_REASON_REQUEST_ID_REUSED, code_pb2.INVALID_ARGUMENT)
    GAME_OVER = (error_pb2.ERROR_REASON_GAME_OVER, code_pb2.FAILED_PRECONDITION)
    ALREADY_STARTED = (error_pb2.ERROR_REASON_ALREADY_STARTED, code_pb2.FAILED_PRECONDITION)
    NOT_STARTED = (error_pb2.ERROR_REASON_NOT_STARTED, code_pb2.FAILED_PRECONDITION)
    TABLE_FULL = (error_pb2.ERROR_REASON_TABLE_FULL, code_pb2.FAILED_PRECONDITION)
    SEAT_TAKEN = (error_pb2.ERROR_REASON_SEAT_TAKEN, code_pb2.ALREADY_EXISTS)
    NAME_TAKEN = (error_pb2.ERROR_REASON_NAME_TAKEN, code_pb2.ALREADY_EXISTS)
    INVALID_OPTION = (error_pb2.ERROR_REASON_INVALID_OPTION, code_pb2.INVALID_ARGUMENT)
    STALE_DECISION = (error_pb2.ERROR_REASON_STALE_DECISION, code_pb2.ABORTED)
    STALE_COMMITMENT = (error_pb2.ERROR_REASON_STALE_COMMITMENT, code_pb2.ABORTED)
    NOT_YOUR_TURN = (error_pb2.ERROR_REASON_NOT_YOUR_TURN, code_pb2.FAILED_PRECONDITION)
    ILLEGAL_ACTION = (error_pb2.ERROR_REASON_ILLEGAL_ACTION, code_pb2.FAILED_PRECONDITION)
    RATE_LIMITED = (error_pb2.ERROR_REASON_RATE_LIMITED, code_pb2.RESOURCE_EXHAUSTED)
    SERVER_DRAINING = (error_pb2.ERROR_REASON_SERVER_DRAINING, code_pb2.UNAVAILABLE)
    STORE_UNAVAILABLE = (error_pb2.ERROR_REASON_STORE_UNAVAILABLE, code_pb2.UNAVAILABLE)
    INTERNAL = (error_pb2.ERROR_REASON_INTERNAL, code_pb2.INTERNAL)

    @property
    def code(self) -> code_pb2.Code:
        """The gRPC code that goes with it."""
        return self.value[1]


class Refusal(CopyableError):
    """A call is refused, and has changed nothing.

    `message` says what happened and what to do next; `facts` hold it for a program.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        facts: Mapping[str, str] | None = None,
        field: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.facts = dict(facts or {})
        self.field = field
        """The field of the request that is at fault, for BadRequest."""
        self.retry_after = retry_after


def malformed(field: str, problem: str) -> Refusal:
    """A request that no client should have sent; `field` names what is wrong with it."""
    return Refusal(Reason.MALFORMED, f"{field}: {problem}", field=field)


def invalid_option(field: str, problem: str) -> Refusal:
    """An option, a level or a seat that there is not."""
    return Refusal(Reason.INVALID_OPTION, f"{field}: {problem}", field=field)


def table_not_found() -> Refusal:
    """The same for a table that is missing, and for a private one without its code."""
    return Refusal(
        Reason.TABLE_NOT_FOUND,
        "There is no such table here. Check the handle, or the code of a private table.",
    )


def table_damaged() -> Refusal:
    """The records of this table cannot be read; the log of the operator says which and why."""
    return Refusal(
        Reason.TABLE_DAMAGED,
        "The records of this table are damaged. Its operator can put back a backup; until then "
        "choose another table.",
    )


def not_allowed(message: str) -> Refusal:
    """The caller does not hold the role that this needs."""
    return Refusal(Reason.NOT_ALLOWED, message)


def rate_limited(limit: str, message: str, retry_after: timedelta) -> Refusal:
    """Too much; `limit` names the setting that says how much is allowed."""
    return Refusal(Reason.RATE_LIMITED, message, facts={"limit": limit}, retry_after=retry_after)


def by_the_rules(error: IllegalAction, acting_seat: int | None) -> Refusal:
    """What a refusal of the engine is to a client. `acting_seat` is the seat that must act."""
    facts: dict[str, str] = {"rule": error.rule}
    if isinstance(error, GameIsOver):
        return Refusal(Reason.GAME_OVER, error.message, facts=facts)
    if isinstance(error, NotYourTurn):
        facts["seat"] = str(acting_seat)
        message = f"It is the turn of seat {acting_seat}. Wait for your decision."
        return Refusal(Reason.NOT_YOUR_TURN, message, facts=facts)
    facts["refusal"] = error.refusal
    for name in ("count", "value", "value_to_beat"):
        number = getattr(error, name)
        if number is not None:
            facts[name] = str(number)
    if error.needed_counts is not None:
        facts["needed_counts"] = ",".join(map(str, error.needed_counts))
    return Refusal(Reason.ILLEGAL_ACTION, error.message, facts=facts)


def to_grpc(refusal: Refusal) -> tuple[grpc.StatusCode, str, tuple[tuple[str, str | bytes], ...]]:
    """Code, message and trailing metadata of a refusal, as gRPC sends them."""
    details = [
        error_details_pb2.ErrorInfo(
            reason=refusal.reason.name, domain=DOMAIN, metadata=refusal.facts
        )
    ]
    packed = [_packed(detail) for detail in details]
    if refusal.field is not None:
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=refusal.field, description=refusal.message
        )
        packed.append(_packed(error_details_pb2.BadRequest(field_violations=[violation])))
    if refusal.retry_after is not None:
        delay = duration(refusal.retry_after)
        packed.append(_packed(error_details_pb2.RetryInfo(retry_delay=delay)))
    status = rpc_status.to_status(
        status_pb2.Status(code=refusal.reason.code, message=refusal.message, details=packed)
    )
    return status.code, status.details, tuple(status.trailing_metadata)


def _packed(
    detail: error_details_pb2.ErrorInfo
    | error_details_pb2.BadRequest
    | error_details_pb2.RetryInfo,
) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed
