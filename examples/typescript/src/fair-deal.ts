// What chance decides in a deal, worked out again from the bytes that the server reveals after it, as
// docs/fair-deal.md specifies.

import { createHash, createHmac } from "node:crypto";
import { type Card, Colour } from "../gen/odin_table/v1/card_pb.js";

const COLOURS = [
  Colour.RED,
  Colour.ORANGE,
  Colour.YELLOW,
  Colour.GREEN,
  Colour.BLUE,
  Colour.VIOLET,
];
const NUMBERS = 9;

/** What the server publishes of a secret before it accepts the first nonce. */
export function commitment(secret: Uint8Array): Uint8Array {
  return createHash("sha256").update("odin-table/commit/1\n").update(secret).digest();
}

/** What chance decides in the first deal of a game. */
export interface FirstDraw {
  /** The player who opens the deal, from 0. */
  opener: number;
  /** The two colours that leave a short deck, or none. */
  removed: Colour[];
  /** The cards, in the order in which they are dealt. */
  order: Card[];
}

/** Works out the first deal of a game. There is one nonce per player. */
export function drawFirst(secret: Uint8Array, nonces: Uint8Array[], shortDeck: boolean): FirstDraw {
  const below = draws(secret, nonces, 1);
  const opener = below(nonces.length);
  const colours = [...COLOURS];
  if (shortDeck) {
    colours.splice(below(colours.length), 1);
    colours.splice(below(colours.length), 1);
  }
  const removed = COLOURS.filter((colour) => !colours.includes(colour));
  return { opener, removed, order: shuffled(removed, below) };
}

/** Works out the order of the cards in a later deal, numbered from 2. */
export function drawDeal(
  secret: Uint8Array,
  nonces: Uint8Array[],
  deal: number,
  removed: Colour[],
): Card[] {
  return shuffled(removed, draws(secret, nonces, deal));
}

/** Draws a number from 0 to bound - 1, without bias. */
type Draw = (bound: number) => number;

function draws(secret: Uint8Array, nonces: Uint8Array[], deal: number): Draw {
  const message = createHmac("sha256", secret).update("odin-table/deal/1\n").update(u32(deal));
  message.update(Uint8Array.of(nonces.length));
  for (const nonce of nonces) {
    message.update(Uint8Array.of(nonce.length)).update(nonce);
  }
  const bytes = expand(message.digest());
  return (bound) => {
    // Bytes that would favour the low numbers are thrown away.
    const fair = 256 - (256 % bound);
    for (;;) {
      const drawn = bytes.next().value;
      if (drawn < fair) {
        return drawn % bound;
      }
    }
  };
}

function* expand(key: Uint8Array): Generator<number, never> {
  for (let block = 0; ; block++) {
    yield* createHmac("sha256", key).update(u32(block)).digest();
  }
}

/** The deck without the removed colours, in the order in which it is dealt. */
function shuffled(removed: Colour[], below: Draw): Card[] {
  const cards: Card[] = COLOURS.filter((colour) => !removed.includes(colour)).flatMap((colour) =>
    Array.from({ length: NUMBERS }, (_, place) => (colour - 1) * NUMBERS + place + 1),
  );
  for (let last = cards.length - 1; last > 0; last--) {
    const chosen = below(last + 1);
    [cards[last], cards[chosen]] = [cards[chosen] as Card, cards[last] as Card];
  }
  return cards;
}

function u32(number: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}
