// Why the server refused a call, in a form that the page can act upon.

import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";
import { ErrorReason } from "../gen/odin_table/v1/error_pb.js";

// What a browser makes of a line that breaks. A server always says why.
const BROKEN = [Code.Aborted, Code.Canceled, Code.Internal, Code.Unknown];

// After these the same call would end the same way.
const FINAL = [
  Code.InvalidArgument,
  Code.NotFound,
  Code.PermissionDenied,
  Code.Unauthenticated,
  Code.FailedPrecondition,
  Code.Unimplemented,
];

/** A call that failed, with or without details. It has changed nothing, unless it is `lost`. */
export class Refusal extends Error {
  readonly code: Code;
  /** UNSPECIFIED when nobody said why. */
  readonly reason: ErrorReason;
  /** How long the server wants to be left alone, in milliseconds, or 0. */
  readonly retryAfter: number;
  /** Whether nobody knows if the call was carried out: repeat it with its request id. */
  readonly lost: boolean;

  constructor(failure: unknown) {
    const error = ConnectError.from(failure);
    super(error.rawMessage, { cause: failure });
    const [info] = error.findDetails(ErrorInfoSchema);
    const [retry] = error.findDetails(RetryInfoSchema);
    this.code = error.code;
    this.reason = ErrorReason[info?.reason as keyof typeof ErrorReason] ?? ErrorReason.UNSPECIFIED;
    this.retryAfter = milliseconds(retry?.retryDelay);
    this.lost =
      this.code === Code.Unavailable ||
      this.code === Code.DeadlineExceeded ||
      (!info && BROKEN.includes(this.code));
  }

  /** Whether the same call may well succeed later. */
  get passing(): boolean {
    return this.lost || (this.code === Code.ResourceExhausted && this.retryAfter > 0);
  }

  /** Whether watching again would be refused again. */
  get final(): boolean {
    return FINAL.includes(this.code);
  }
}

/** A duration of the contract in milliseconds; 0 when it is absent. */
export function milliseconds(duration?: { seconds: bigint; nanos: number }): number {
  return duration ? Number(duration.seconds) * 1000 + duration.nanos / 1e6 : 0;
}
