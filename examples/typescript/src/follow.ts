// Following a table: one stream after another, without a hole in the events.

import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { type StreamEnd, StreamEndReason } from "../gen/odin_table/v1/event_pb.js";
import {
  type WatchTableRequest,
  WatchTableRequestSchema,
  type WatchTableResponse,
} from "../gen/odin_table/v1/play_pb.js";
import { milliseconds, Refusal, type Server } from "./server.js";

/** How long a stream may say nothing, in milliseconds; the server says something every ten seconds. */
const SILENCE = 25_000;

/**
 * Yields the items of a table's stream, the first of them a snapshot. It resumes behind the last
 * event after a broken or silent line, and when the server asks for it. Throws a Refusal when it is
 * refused for good.
 */
export async function* follow(server: Server, table: string): AsyncGenerator<WatchTableResponse> {
  // The request is also the place where we are: afterSeq and logId.
  const request = create(WatchTableRequestSchema, { table });
  for (let failures = 0; ; ) {
    try {
      for await (const item of followOnce(server, request)) {
        failures = 0;
        yield item;
      }
    } catch (failure) {
      const refusal = Refusal.from(failure);
      if (!refusal.passing) {
        throw refusal;
      }
      await refusal.wait(++failures, server.quit);
    }
  }
}

/** Yields the items of one stream and moves the request on. Always ends with an error. */
async function* followOnce(
  server: Server,
  request: WatchTableRequest,
): AsyncGenerator<WatchTableResponse, never> {
  const silent = new AbortController();
  const watchdog = setTimeout(() => silent.abort(unavailable("the server fell silent")), SILENCE);
  const signal = AbortSignal.any([silent.signal, server.quit]);
  try {
    for await (const item of server.play.watchTable(request, { signal })) {
      watchdog.refresh();
      if (item.item.case === "streamEnd") {
        throw ended(item.item.value);
      }
      advance(request, item);
      yield item;
    }
    throw unavailable("the server ended the stream");
  } finally {
    clearTimeout(watchdog);
  }
}

/** A stream that is worth another attempt. */
function unavailable(message: string, retryAfter = 0): Refusal {
  return new Refusal(Code.Unavailable, message, retryAfter);
}

/**
 * What the server says when it ends a stream by itself. It wants nobody back when it names no time
 * for that, as when the same seat is watched from elsewhere (SUPERSEDED).
 */
function ended({ reason, retryAfter }: StreamEnd): Refusal {
  const word = StreamEndReason[reason] ?? reason;
  return retryAfter
    ? unavailable(`the server ended the stream: ${word}`, milliseconds(retryAfter))
    : new Refusal(Code.FailedPrecondition, `the server ended the stream for good: ${word}`);
}

/** Notes how far an item brings us. Events have to follow the last one without a hole. */
function advance(request: WatchTableRequest, { item }: WatchTableResponse): void {
  if (item.case === "snapshot") {
    request.afterSeq = item.value.seq;
    request.logId = item.value.logId;
  } else if (item.case === "events") {
    for (const { seq } of item.value.events) {
      if (seq !== (request.afterSeq ?? 0) + 1) {
        delete request.afterSeq; // start again with a snapshot
        throw unavailable("events are missing");
      }
      request.afterSeq = seq;
    }
  }
}
