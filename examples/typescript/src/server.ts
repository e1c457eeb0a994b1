// One connection to one server: credential, deadlines, safe repeats, typed refusals.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  type CallOptions,
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
} from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";
import { ErrorReason } from "../gen/odin_table/v1/error_pb.js";
import { LobbyService } from "../gen/odin_table/v1/lobby_pb.js";
import { PlayService } from "../gen/odin_table/v1/play_pb.js";

// All in milliseconds. One attempt of a call, and all its attempts together. A dead line is noticed
// after 15 s (see the pings), so patience is longer than that.
const CALL_DEADLINE = 5_000;
const PATIENCE = 60_000;
const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 3_000;

export class Server {
  readonly lobby: Client<typeof LobbyService>;
  readonly play: Client<typeof PlayService>;

  /**
   * Prepares a connection to HOST:PORT, with the credential that is kept in a file. Everything ends
   * when `quit` does.
   */
  constructor(
    address: string,
    readonly quit: AbortSignal,
    file?: string,
  ) {
    const transport = createGrpcTransport({
      baseUrl: `http://${address}`,
      interceptors: [identify(keptCredential(file))],
      pingIntervalMs: 10_000,
      pingTimeoutMs: 5_000,
      pingIdleConnection: true,
    });
    this.lobby = createClient(LobbyService, transport);
    this.play = createClient(PlayService, transport);
  }

  /**
   * Makes a call, again and again while it may still succeed. It sends the same request each time,
   * with the same request id, so that the server does it once. Throws a Refusal.
   */
  async call<Request, Answer>(
    method: (request: Request, options: CallOptions) => Promise<Answer>,
    request: Request,
  ): Promise<Answer> {
    const giveUp = Date.now() + PATIENCE;
    for (let failures = 1; ; failures++) {
      try {
        return await method(request, { timeoutMs: CALL_DEADLINE, signal: this.quit });
      } catch (failure) {
        const refusal = Refusal.from(failure);
        if (!refusal.passing || Date.now() > giveUp) {
          throw refusal;
        }
        await refusal.wait(failures, this.quit);
      }
    }
  }
}

/**
 * Reads the credential from a file, or makes a new one and writes it there, for its owner alone. A
 * client that is started again with the same file has its seat back. Without a file the credential
 * lasts as long as the process.
 */
function keptCredential(file?: string): string {
  if (file !== undefined && existsSync(file)) {
    return readFileSync(file, "utf8").trim();
  }
  const credential = randomBytes(32).toString("base64url");
  if (file !== undefined) {
    writeFileSync(file, `${credential}\n`, { mode: 0o600, flag: "wx" });
  }
  return credential;
}

/** Sends the credential with every call. Anyone who has it has the seat. */
function identify(credential: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${credential}`);
    request.header.set("odin-table-revision", "1");
    return next(request);
  };
}

/** A call or a stream that failed, in a form that a program can act upon. */
export class Refusal extends Error {
  constructor(
    readonly code: Code,
    message: string,
    /** How long the server wants to be left alone, in milliseconds, or 0. */
    readonly retryAfter = 0,
    /** UNSPECIFIED when the failure is gRPC's own, or newer than this client. */
    readonly reason = ErrorReason.UNSPECIFIED,
    /** Go with the reason; error.proto names them. Absent when the failure is gRPC's own. */
    readonly facts?: Record<string, string>,
  ) {
    super(`${Code[code]}: ${message}`);
  }

  static from(failure: unknown): Refusal {
    if (failure instanceof Refusal) {
      return failure;
    }
    const error = ConnectError.from(failure);
    const [info] = error.findDetails(ErrorInfoSchema);
    const [retry] = error.findDetails(RetryInfoSchema);
    const reason = ErrorReason[info?.reason as keyof typeof ErrorReason];
    const after = milliseconds(retry?.retryDelay);
    return new Refusal(error.code, error.rawMessage, after, reason, info?.metadata);
  }

  /**
   * Whether the same call may succeed later: the line broke, or the server asks for it. Whether a
   * call was carried out before the line broke nobody knows; hence its request id.
   */
  get passing(): boolean {
    switch (this.code) {
      case Code.Unavailable:
      case Code.DeadlineExceeded:
        return true;
      case Code.Aborted:
      case Code.Canceled:
      case Code.Internal:
      case Code.Unknown:
        return !this.facts; // not the server's word, but Connect's for a line that broke
      default:
        return this.retryAfter > 0;
    }
  }

  /**
   * Waits before the next attempt after so many failures in a row: 0.3 to 3 seconds, spread by
   * chance so that clients do not come back all at once, or longer when the server asks for it.
   */
  async wait(failures: number, quit: AbortSignal): Promise<void> {
    quit.throwIfAborted();
    const longest = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
    const pause = Math.max(longest * (1 - Math.random() / 3), this.retryAfter);
    console.error(`${this.message}; trying again in ${Math.round(pause)} ms`);
    await sleep(pause, undefined, { signal: quit }).catch(() => quit.throwIfAborted());
  }
}

/** A duration of the contract in milliseconds; 0 when it is absent. */
export function milliseconds(duration?: Duration): number {
  return duration ? Number(duration.seconds) * 1000 + duration.nanos / 1e6 : 0;
}
