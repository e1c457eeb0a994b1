import assert from "node:assert/strict";
import test from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  DealStartedSchema,
  type Event,
  EventSchema,
  GameStartedSchema,
  RematchAskedSchema,
} from "../gen/odin_table/v1/event_pb.js";
import { WatchTableResponseSchema } from "../gen/odin_table/v1/play_pb.js";
import { TablePhase, type TableView, TableViewSchema } from "../gen/odin_table/v1/table_pb.js";
import { DealCheck } from "./deal-check.js";
import { ROUNDS } from "./fair-deal.js";
import { Lie } from "./promises.js";

const commitment = Buffer.from("what the server has committed itself to");
const theirs = Buffer.from("theirs");
const none = new Uint8Array();

/** A table of two whose game is over: our seat is the first one. By deal/1 without rounds. */
function waiting(rounds: number, nonce: Uint8Array = none): TableView {
  return create(TableViewSchema, {
    logId: "log",
    seq: 10,
    yourSeat: 0,
    phase: TablePhase.GAME_OVER,
    seats: [{ seat: 0, nonce }, { seat: 1 }],
    ...(rounds > 0 ? { source: { commitment, rounds } } : { commitment }),
  });
}

/** Lets a check see events with these payloads. */
function see(check: DealCheck, ...payloads: Event["payload"][]): void {
  const events = payloads.map((payload, place) =>
    create(EventSchema, { seq: 11 + place, payload }),
  );
  check.apply(create(WatchTableResponseSchema, { item: { case: "events", value: { events } } }));
}

test("the nonce of rematch_asked counts", () => {
  const check = new DealCheck();
  check.restart(waiting(0));
  const asked = create(RematchAskedSchema, { seat: 1, nonce: theirs });
  const game = create(GameStartedSchema, { game: 1, seats: [0, 1] });
  const deal = create(DealStartedSchema, { deal: 1, commitment, nonces: [none, theirs] });
  see(
    check,
    { case: "rematchAsked", value: asked },
    { case: "gameStarted", value: game },
    { case: "dealStarted", value: deal },
  );
});

test("a nonce that went with the seat is ours once it is shown", () => {
  const check = new DealCheck();
  check.restart(waiting(ROUNDS));
  const early = check.earlyOffer;
  assert.ok(early);
  check.restart(waiting(ROUNDS));
  assert.deepEqual(check.earlyOffer, early, "it was not taken, so it is offered again");
  check.restart(waiting(ROUNDS, early.nonce));
  assert.equal(check.earlyOffer, undefined);
  assert.throws(() => check.restart(waiting(ROUNDS)), Lie);
});
