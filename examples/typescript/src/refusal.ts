// Why the server refused a call, in a form that a program can act upon.

import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";
import { ErrorReason } from "../gen/odin_table/v1/error_pb.js";

// A line that breaks is called one of these here, and nothing says why. A server does.
const BROKEN = [Code.Aborted, Code.Canceled, Code.Internal, Code.Unknown];

/** A call that failed, with or without details. It has changed nothing, unless it is `lost`. */
export class Refusal extends Error {
  readonly code: Code;
  /** UNSPECIFIED when the failure is gRPC's own, or newer than this client. */
  readonly reason: ErrorReason;
  /** Go with the reason; error.proto names them. */
  readonly facts: Readonly<Record<string, string>>;
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
    this.facts = info?.metadata ?? {};
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

  override toString(): string {
    const facts = Object.entries(this.facts).map(([name, fact]) => ` ${name}=${fact}`);
    return `${Code[this.code]}: ${this.message}${facts.join("")}`;
  }
}

/** A duration of the contract in milliseconds; 0 when it is absent. */
export function milliseconds(duration?: { seconds: bigint; nanos: number }): number {
  return duration ? Number(duration.seconds) * 1000 + duration.nanos / 1e6 : 0;
}
