#!/usr/bin/env node
// The shortest good client for odin-table: it sits down at a table as a bot and plays one game to its
// end. It keeps two things of the table, the number of the last event and the open decision, and checks
// no deals. The client in the other files does more. Read from the end of this file upwards, or from
// `watch` on.

import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { create } from "@bufbuild/protobuf";
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
import { type Decision, DecisionKind } from "../gen/odin_table/v1/decision_pb.js";
import { type Event, StreamEndReason } from "../gen/odin_table/v1/event_pb.js";
import { LobbyService } from "../gen/odin_table/v1/lobby_pb.js";
import {
  PlayService,
  type WatchTableRequest,
  WatchTableRequestSchema,
  type WatchTableResponse,
} from "../gen/odin_table/v1/play_pb.js";
import { Occupant, TablePhase } from "../gen/odin_table/v1/table_pb.js";

const USAGE = "usage: short.js HOST:PORT --table HANDLE [--name NAME] [--credential FILE]";

// All in milliseconds: one attempt of a call, all its attempts together, a stream that says nothing.
const CALL_DEADLINE = 5_000;
const PATIENCE = 60_000;
const SILENCE = 25_000;

/** The end of a stream: for good, unless there is a time to come back after. */
class Ended extends Error {
  constructor(
    reason: string,
    readonly retryAfter?: Duration,
  ) {
    super(`the stream ended: ${reason}`);
  }
}

/** Plays for one seat. */
class Player {
  /** Where we are: afterSeq and logId. */
  readonly #place: WatchTableRequest;
  #decision: Decision | undefined;
  #over = false;
  /** How many streams have failed in a row. */
  #failures = 0;

  constructor(
    readonly service: Client<typeof PlayService>,
    table: string,
    readonly seat: number,
  ) {
    this.#place = create(WatchTableRequestSchema, { table });
  }

  /** Follows the table, one stream after another, until the game is over. */
  async play(): Promise<void> {
    while (!this.#over) {
      try {
        await this.#watch();
      } catch (failure) {
        await pause(failure, ++this.#failures);
      }
    }
  }

  /** Follows one stream, and acts when it is our turn. */
  async #watch(): Promise<void> {
    const silent = new AbortController();
    const watchdog = setTimeout(() => silent.abort(), SILENCE);
    try {
      for await (const item of this.service.watchTable(this.#place, { signal: silent.signal })) {
        watchdog.refresh();
        this.#failures = 0;
        // All of it before acting: what was open at its start may be over at its end.
        this.#take(item);
        if (this.#over) {
          return;
        }
        if (this.#decision?.choices) {
          await this.#act(this.#decision); // only our own decisions have choices
        }
      }
      throw new ConnectError("the stream broke", Code.Unavailable);
    } finally {
      clearTimeout(watchdog);
    }
  }

  /** Notes what an item says. Unknown items and events are stepped over, but each event counts. */
  #take({ item }: WatchTableResponse): void {
    switch (item.case) {
      case "snapshot": // replaces all that we knew
        this.#place.afterSeq = item.value.seq;
        this.#place.logId = item.value.logId;
        this.#decision = item.value.decision;
        this.#over = item.value.phase === TablePhase.GAME_OVER;
        if (item.value.yourSeat === undefined) {
          throw new Ended("our seat is gone");
        }
        break;
      case "events":
        for (const event of item.value.events) {
          if (event.seq !== (this.#place.afterSeq ?? 0) + 1) {
            delete this.#place.afterSeq; // start again with a snapshot
            throw new ConnectError("events are missing", Code.Unavailable);
          }
          this.#place.afterSeq = event.seq;
          this.#fold(event);
        }
        break;
      case "streamEnd":
        // SUPERSEDED and TABLE_CLOSED name no time: do not come back.
        throw new Ended(StreamEndReason[item.value.reason] ?? "", item.value.retryAfter);
    }
  }

  #fold({ payload }: Event): void {
    switch (payload.case) {
      case "decisionOpened":
        this.#decision = payload.value.decision;
        break;
      case "cardsPlayed":
      case "cardPickedUp":
      case "passed":
        this.#decision = undefined;
        break;
      case "gameEnded":
        this.#over = true;
        break;
      case "seatLeft": // such as REMOVED: the host has freed our seat
        if (payload.value.seat === this.seat) {
          throw new Ended("our seat is gone");
        }
        break;
    }
  }

  /** Answers a decision, once: with the first play, or as the server proposes. */
  async #act({ id, kind, choices }: Decision): Promise<void> {
    const [first] = choices?.plays ?? [];
    const mayPlay = kind === DecisionKind.OPEN || kind === DecisionKind.RESPOND;
    // What the server proposes is right for a kind of decision that we do not know, too.
    const proposed = choices?.defaultAction;
    const play = { action: { case: "playCards" as const, value: { cards: first?.cards ?? [] } } };
    const action = first && mayPlay ? play : proposed;
    this.#decision = undefined;
    try {
      const { table } = this.#place;
      await call(this.service.act, { requestId: randomUUID(), table, decisionId: id, action });
    } catch (failure) {
      if (![Code.Aborted, Code.FailedPrecondition].includes(ConnectError.from(failure).code)) {
        throw failure;
      }
      // The table has moved on: the stream tells how.
    }
  }
}

/**
 * Makes a call until it is answered, or refused for good. Each attempt sends the same request with the
 * same request id, so that the server carries it out once.
 */
async function call<Request, Answer>(
  method: (request: Request, options: CallOptions) => Promise<Answer>,
  request: Request,
): Promise<Answer> {
  const giveUp = Date.now() + PATIENCE;
  for (let failures = 1; ; failures++) {
    try {
      return await method(request, { timeoutMs: CALL_DEADLINE });
    } catch (failure) {
      if (Date.now() > giveUp) {
        throw failure;
      }
      await pause(failure, failures);
    }
  }
}

/**
 * Waits before the next attempt: longer after each failure, and for as long as the server asks. Throws
 * the failure when another attempt is pointless.
 */
async function pause(failure: unknown, failures: number): Promise<void> {
  let retryAfter: Duration | undefined;
  let passing: boolean;
  if (failure instanceof Ended) {
    retryAfter = failure.retryAfter;
    passing = retryAfter !== undefined;
  } else {
    const error = ConnectError.from(failure);
    retryAfter = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
    const refused = error.findDetails(ErrorInfoSchema).length > 0;
    passing =
      [Code.Unavailable, Code.DeadlineExceeded].includes(error.code) ||
      retryAfter !== undefined ||
      // Not the server's word, but Connect's for a connection that broke.
      (!refused && [Code.Aborted, Code.Canceled, Code.Internal, Code.Unknown].includes(error.code));
  }
  if (!passing) {
    throw failure;
  }
  const longest = Math.min(300 * 2 ** (failures - 1), 3_000);
  const asked = Number(retryAfter?.seconds ?? 0) * 1000 + (retryAfter?.nanos ?? 0) / 1e6;
  await sleep(Math.max(longest * (1 - Math.random() / 3), asked));
}

/**
 * Reads the credential from a file, or makes a new one and writes it there. Anyone who has it has the
 * seat, so only the owner may read the file. Without a file it lasts as long as the process.
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

/** Sends with every call who is asking, and for which revision of the contract this was written. */
function identify(credential: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${credential}`);
    request.header.set("odin-table-revision", "1");
    return next(request);
  };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      table: { type: "string" },
      name: { type: "string", default: "Shorty" },
      credential: { type: "string" },
    },
  });
  const { table, name } = values;
  if (positionals.length !== 1 || table === undefined) {
    throw new TypeError(USAGE);
  }
  const transport = createGrpcTransport({
    baseUrl: `http://${positionals[0]}`,
    interceptors: [identify(keptCredential(values.credential))],
  });
  // If the credential has a seat at the table already, this returns that one.
  const { seat } = await call(createClient(LobbyService, transport).takeSeat, {
    requestId: randomUUID(),
    table,
    name,
    occupant: Occupant.REMOTE_BOT,
  });
  await new Player(createClient(PlayService, transport), table, seat).play();
}

try {
  await main();
  console.error("the game is over");
  process.exit(0); // the idle connection would keep the process for a while
} catch (failure) {
  console.error((failure as Error).message);
  process.exit(1);
}
