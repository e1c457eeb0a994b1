import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Card } from "../gen/odin_table/v1/card_pb.js";
import { commitment, drawDeal, drawFirst } from "./fair-deal.js";

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
}

// Compiled, this lies in dist/src.
const file = new URL("../../../../tests/engine/fair_deal/vectors.json", import.meta.url);
const vectors: Vector[] = JSON.parse(readFileSync(file, "utf8"));

test("there are vectors", () => assert.ok(vectors.length > 0));

for (const vector of vectors) {
  test(`the vector of ${vector.commitment.slice(0, 8)}`, () => {
    const secret = bytes(vector.secret);
    assert.deepEqual(commitment(secret), bytes(vector.commitment));
    const nonces = vector.nonces.map(bytes);
    const removed = vector.removed.map((letter) => "ROYGBV".indexOf(letter) + 1);
    const order = vector.order.map((card) => Card[card as keyof typeof Card]);
    if (vector.deal === 1) {
      const drawn = drawFirst(secret, nonces, vector.short_deck);
      assert.deepEqual(drawn, { opener: vector.first_opener, removed, order });
    } else {
      assert.deepEqual(drawDeal(secret, nonces, vector.deal, removed), order);
    }
  });
}

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}
