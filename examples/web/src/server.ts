// The server that this page came from: credential, safe repeats, and a stream that resumes.

import { create } from "@bufbuild/protobuf";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { HistoryService } from "../gen/odin_table/v1/history_pb.js";
import { LobbyService } from "../gen/odin_table/v1/lobby_pb.js";
import {
  PlayService,
  WatchTableRequestSchema,
  type WatchTableResponse,
} from "../gen/odin_table/v1/play_pb.js";
import { milliseconds, Refusal } from "./refusal.js";

// All in milliseconds. One attempt of a call, and all its attempts together.
const CALL_DEADLINE = 5_000;
const PATIENCE = 60_000;
const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 3_000;
// How long a stream may say nothing; the server says something every ten seconds.
const SILENCE = 25_000;

const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  defaultTimeoutMs: CALL_DEADLINE,
  interceptors: [identify],
});
export const lobby = createClient(LobbyService, transport);
export const play = createClient(PlayService, transport);
export const history = createClient(HistoryService, transport);

/** Makes a call, again and again while it may still succeed. Throws a Refusal. */
export async function call<Answer>(
  // Gets a new request id once, so that the server does it once.
  attempt: (requestId: string) => Promise<Answer>,
): Promise<Answer> {
  const requestId = random(16);
  const giveUp = Date.now() + PATIENCE;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(requestId);
    } catch (failure) {
      const refusal = new Refusal(failure);
      const pause = Math.max(backoff(attempts), refusal.retryAfter);
      if (!refusal.passing || Date.now() + pause > giveUp) {
        throw refusal;
      }
      await sleep(pause);
    }
  }
}

/**
 * Yields the items of a table's stream, the first of them a snapshot, until `quit`. After a broken
 * or silent line it resumes behind the last event; `broken` is told before. Ends when the server
 * wants nobody back; throws a Refusal when watching is refused for good.
 */
export async function* follow(
  where: { table: string } | { code: string },
  quit: AbortSignal,
  broken: () => void,
): AsyncGenerator<WatchTableResponse> {
  // The request is also the place where we are: afterSeq and logId.
  const request = create(WatchTableRequestSchema, where);
  for (let failures = 0; !quit.aborted; ) {
    let pause = 0;
    const line = new AbortController();
    const watch = () => setTimeout(() => line.abort(), SILENCE);
    let watchdog = watch();
    const hangUp = () => line.abort();
    quit.addEventListener("abort", hangUp);
    try {
      for await (const item of play.watchTable(request, { signal: line.signal, timeoutMs: 0 })) {
        clearTimeout(watchdog);
        watchdog = watch();
        failures = 0;
        const place = item.item;
        if (place.case === "snapshot") {
          request.afterSeq = place.value.seq;
          request.logId = place.value.logId;
        } else if (place.case === "events") {
          const [first] = place.value.events;
          if (first?.seq !== (request.afterSeq ?? 0) + 1) {
            delete request.afterSeq; // there is a hole: start again with a snapshot
            break;
          }
          request.afterSeq = first.seq + place.value.events.length - 1;
        }
        yield item;
        if (place.case === "streamEnd") {
          if (!place.value.retryAfter) {
            return;
          }
          pause = milliseconds(place.value.retryAfter);
        }
      }
    } catch (failure) {
      const refusal = new Refusal(failure);
      if (refusal.final && !quit.aborted) {
        throw refusal;
      }
      pause = refusal.retryAfter;
    } finally {
      clearTimeout(watchdog);
      line.abort();
      quit.removeEventListener("abort", hangUp);
    }
    if (!quit.aborted) {
      broken();
      await sleep(Math.max(pause, backoff(++failures)));
    }
  }
}

/** Sends the credential of this browser. Whoever holds it holds its seats, so it stays here. */
function identify(next: Parameters<Interceptor>[0]): ReturnType<Interceptor> {
  const key = "odin-table.credential";
  let credential = localStorage.getItem(key);
  if (credential === null) {
    credential = random(32);
    localStorage.setItem(key, credential);
  }
  return (request) => {
    request.header.set("authorization", `Bearer ${credential}`);
    request.header.set("odin-table-revision", "1");
    return next(request);
  };
}

/** So many random bytes. */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** So many random bytes, in base64url. */
function random(bytes: number): string {
  const text = String.fromCharCode(...randomBytes(bytes));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** How long to wait after so many failures in a row, spread by chance. */
function backoff(failures: number): number {
  const longest = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
  return longest * (1 - Math.random() / 3);
}

function sleep(time: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, time));
}
