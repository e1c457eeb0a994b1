// What chance decides in a deal, worked out again from the bytes that the server reveals after it, as
// docs/fair-deal.md specifies.

import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
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

/** Rounds of PBKDF2 that make the key of a deal with people; fewer are worth a warning. */
export const ROUNDS = 100_000;
/** As many rounds as we compute. */
export const MAX_ROUNDS = 1_000_000;

/**
 * What the server publishes of a secret before it accepts the first nonce. It binds the rounds of
 * deal/2; 0 stands for deal/1.
 */
export function commitment(secret: Uint8Array, rounds: number): Uint8Array {
  const hash = createHash("sha256").update(`odin-table/commit/${rounds ? 2 : 1}\n`);
  return (rounds ? hash.update(u32(rounds)) : hash).update(secret).digest();
}

/** The rounds of a deal's key: one when no person plays in it. */
export function keyRounds(rounds: number, hasPerson: boolean): number {
  return hasPerson ? rounds : Math.min(rounds, 1);
}

/** Six letters for players to compare aloud: the same for all who were told the same. */
export function word(commitment: Uint8Array, seats: number[], nonces: Uint8Array[]): string {
  const hash = createHash("sha256").update("odin-table/word/1\n").update(commitment);
  hash.update(Uint8Array.of(seats.length));
  for (const [player, nonce] of nonces.entries()) {
    hash.update(Uint8Array.of(seats[player] ?? 0, nonce.length)).update(nonce);
  }
  const bits = hash.digest().readUInt32BE() >>> 2;
  const places = [25, 20, 15, 10, 5, 0];
  return places.map((place) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[(bits >>> place) & 31]).join("");
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

/** Works out the first deal of a game. There is one nonce per player; the rounds are the key's. */
export function drawFirst(
  secret: Uint8Array,
  nonces: Uint8Array[],
  shortDeck: boolean,
  rounds: number,
): FirstDraw {
  const below = draws(secret, nonces, 1, rounds);
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
  rounds: number,
): Card[] {
  return shuffled(removed, draws(secret, nonces, deal, rounds));
}

/** Draws a number from 0 to bound - 1, without bias. */
type Draw = (bound: number) => number;

function draws(secret: Uint8Array, nonces: Uint8Array[], deal: number, rounds: number): Draw {
  const parts = [Buffer.from(`odin-table/deal/${rounds ? 2 : 1}\n`), u32(deal)];
  parts.push(Uint8Array.of(nonces.length));
  for (const nonce of nonces) {
    parts.push(Uint8Array.of(nonce.length), nonce);
  }
  const message = Buffer.concat(parts);
  const bytes = expand(
    rounds
      ? pbkdf2Sync(secret, message, rounds, 32, "sha256")
      : createHmac("sha256", secret).update(message).digest(),
  );
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
