import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Card } from "../gen/odin_table/v1/card_pb.js";
import { commitment, drawDeal, drawFirst, keyRounds, word } from "./fair-deal.js";

/** A vector of the specification. Bytes are in hex, cards are written as R7, colours as R. */
interface Vector {
  secret: string;
  commitment: string;
  nonces: string[];
  deal: number;
  short_deck: boolean;
  first_opener?: number;
  removed: string[];
  order: string[];
  seats: number[];
  word: string;
  /** Absent for deal/1, as the two that follow. */
  rounds?: number;
  has_person?: boolean;
  key_rounds?: number;
}

// Compiled, this lies in dist/src.
const folder = new URL("../../../../tests/engine/fair_deal/", import.meta.url);
const vectors = ["vectors.json", "vectors_2.json"].flatMap((name): Vector[] =>
  JSON.parse(readFileSync(new URL(name, folder), "utf8")),
);

test("there are vectors of both forms", () => {
  assert.deepEqual(new Set(vectors.map(({ rounds }) => rounds !== undefined)).size, 2);
});

for (const vector of vectors) {
  test(`the vector of ${vector.commitment.slice(0, 8)}`, () => {
    const secret = bytes(vector.secret);
    const promised = commitment(secret, vector.rounds ?? 0);
    assert.deepEqual(promised, bytes(vector.commitment));
    const nonces = vector.nonces.map(bytes);
    assert.equal(word(promised, vector.seats, nonces), vector.word);
    const rounds = keyRounds(vector.rounds ?? 0, vector.has_person ?? true);
    assert.equal(rounds, vector.key_rounds ?? 0);
    const removed = vector.removed.map((letter) => "ROYGBV".indexOf(letter) + 1);
    const order = vector.order.map((card) => Card[card as keyof typeof Card]);
    if (vector.deal === 1) {
      const drawn = drawFirst(secret, nonces, vector.short_deck, rounds);
      assert.deepEqual(drawn, { opener: vector.first_opener, removed, order });
    } else {
      assert.deepEqual(drawDeal(secret, nonces, vector.deal, removed, rounds), order);
    }
  });
}

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}
