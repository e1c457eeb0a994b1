// One connection to one server: credential, deadlines, safe repeats, and streams that resume.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  type CallOptions,
  type Client,
  Code,
  createClient,
  type Interceptor,
} from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { LobbyService } from "../gen/odin_table/v1/lobby_pb.js";
import {
  PlayService,
  type WatchTableRequest,
  WatchTableRequestSchema,
  type WatchTableResponse,
} from "../gen/odin_table/v1/play_pb.js";
import { milliseconds, Refusal } from "./refusal.js";

// All in milliseconds. One attempt of a call, and all its attempts together. A dead line is noticed
// after 30 s (see the pings), so patience is longer than that.
const CALL_DEADLINE = 5_000;
const PATIENCE = 60_000;
const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 3_000;
// How long a stream may say nothing; the server says something every ten seconds.
const SILENCE = 25_000;

// After these another attempt to watch would end the same way. After all others it may not, and
// a stream changes nothing, so it is opened again.
const FINAL = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.PermissionDenied,
  Code.Unauthenticated,
  Code.FailedPrecondition,
  Code.Unimplemented,
]);

export class Server {
  readonly lobby: Client<typeof LobbyService>;
  readonly play: Client<typeof PlayService>;
  readonly #quit: AbortSignal;

  /** Prepares a connection to HOST:PORT, with a new credential. Everything ends when `quit` does. */
  constructor(address: string, quit: AbortSignal) {
    const transport = createGrpcTransport({
      baseUrl: `http://${address}`,
      interceptors: [identify()],
      pingIntervalMs: 20_000,
      pingTimeoutMs: 10_000,
      pingIdleConnection: true,
    });
    this.lobby = createClient(LobbyService, transport);
    this.play = createClient(PlayService, transport);
    this.#quit = quit;
  }

  /**
   * Makes a call, again and again while it may still succeed. The caller passes the same request
   * each time, with the same request id, so that the server does it once. Throws a Refusal.
   */
  async call<Answer>(attempt: (options: CallOptions) => Promise<Answer>): Promise<Answer> {
    const giveUp = Date.now() + PATIENCE;
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt({ timeoutMs: CALL_DEADLINE, signal: this.#quit });
      } catch (failure) {
        this.#quit.throwIfAborted();
        const refusal = new Refusal(failure);
        const pause = Math.max(backoff(attempts), refusal.retryAfter);
        if (!refusal.passing || Date.now() + pause > giveUp) {
          throw refusal;
        }
        await sleep(pause, undefined, { signal: this.#quit });
      }
    }
  }

  /**
   * Yields the items of a table's stream, the first of them a snapshot. After a broken or silent
   * line it resumes behind the last event. Ends when the server wants nobody back; throws a
   * Refusal when watching is refused for good.
   */
  async *follow(table: string): AsyncGenerator<WatchTableResponse> {
    // The request is also the place where we are: afterSeq and logId.
    const request = create(WatchTableRequestSchema, { table });
    for (let failures = 0; ; ) {
      let pause = 0;
      let problem = "the server ended the stream";
      try {
        for await (const item of this.#followOnce(request)) {
          failures = 0;
          advance(request, item);
          yield item;
          if (item.item.case === "streamEnd") {
            if (!item.item.value.retryAfter) {
              return;
            }
            pause = milliseconds(item.item.value.retryAfter);
          }
        }
      } catch (failure) {
        this.#quit.throwIfAborted();
        if (failure instanceof Hole) {
          delete request.afterSeq; // start again with a snapshot
        }
        const refusal = new Refusal(failure);
        if (FINAL.has(refusal.code)) {
          throw refusal;
        }
        pause = refusal.retryAfter;
        problem = refusal.message;
      }
      pause = Math.max(pause, backoff(++failures));
      const place = `after event ${request.afterSeq ?? 0} in ${Math.round(pause)} ms`;
      console.error(`the line broke (${problem}), resuming ${place}`);
      await sleep(pause, undefined, { signal: this.#quit });
    }
  }

  /** The items of one stream. Throws when it breaks or falls silent. */
  async *#followOnce(request: WatchTableRequest): AsyncGenerator<WatchTableResponse> {
    const silent = new AbortController();
    const watch = () => setTimeout(() => silent.abort(new Error("it fell silent")), SILENCE);
    const signal = AbortSignal.any([silent.signal, this.#quit]);
    let watchdog = watch();
    try {
      for await (const item of this.play.watchTable(request, { signal })) {
        clearTimeout(watchdog);
        yield item;
        watchdog = watch();
      }
    } finally {
      clearTimeout(watchdog);
    }
  }
}

/** Events are missing between the last item and this one. */
class Hole extends Error {
  override message = "events are missing";
}

/** Notes how far an item brings us. Events have to follow the last one without a hole. */
function advance(request: WatchTableRequest, { item }: WatchTableResponse): void {
  if (item.case === "snapshot") {
    request.afterSeq = item.value.seq;
    request.logId = item.value.logId;
  } else if (item.case === "events") {
    for (const event of item.value.events) {
      if (event.seq !== (request.afterSeq ?? 0) + 1) {
        throw new Hole();
      }
      request.afterSeq = event.seq;
    }
  }
}

/**
 * Sends a new credential with every call. Whoever holds it holds the seat: a client that wants its
 * seat back after a restart keeps it in a file that only its owner may read.
 */
function identify(): Interceptor {
  const credential = randomBytes(32).toString("base64url");
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${credential}`);
    request.header.set("odin-table-revision", "1");
    return next(request);
  };
}

/**
 * How long to wait after so many failures in a row: 0.3 to 3 seconds, spread by chance so that
 * clients do not come back all at once.
 */
function backoff(failures: number): number {
  const longest = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
  return longest * (1 - Math.random() / 3);
}
