// What the server can be held to: a snapshot takes the place of all that a Table knows, and a server
// may send one whenever it likes. So promises are kept apart, for the life of the process.

import { randomBytes } from "node:crypto";
import type { Card, Colour } from "../gen/odin_table/v1/card_pb.js";
import type { DealSource } from "../gen/odin_table/v1/table_pb.js";

/** What the server says of a deal and what contradicts what it said before. Do not play on. */
export class Lie extends Error {
  constructor(deal: number, problem: string) {
    super(`deal ${deal}: THE SERVER LIES: ${problem}`);
  }
}

/** What a deal starts from, besides its commitment. */
export interface Terms {
  seats: number[];
  nonces: Uint8Array[];
  opener: number;
  removed: Colour[];
  /** Of its key; 0 for a deal by deal/1. */
  rounds: number;
}

/** Says what a deal follows from, in a field of its own when it is by deal/2. */
export interface Sourced {
  commitment: Uint8Array;
  nonces?: Uint8Array[];
  source?: DealSource | undefined;
}

/** The commitment in a message, the nonces for it, the rounds that it binds and those of the key. */
export function sourceOf({ source, commitment, nonces = [] }: Sourced) {
  return source ?? { commitment, nonces, rounds: 0, keyRounds: 0 };
}

/** What we add to a deal, so that the server does not choose the cards alone. */
export interface Offer {
  nonce: Uint8Array;
  /** Which the nonce is for. */
  commitment: Uint8Array;
  /** What the commitment binds; 0 for a deal by deal/1. */
  rounds: number;
}

/**
 * The nonces that we have for a deal: always the same, so that a server cannot ask for others until it
 * likes the cards. What we add once we are ready differs from what we add early, since a server that
 * knows a nonce early has long to search for a deck that it likes.
 */
export interface OwnNonces {
  readonly early: Uint8Array;
  readonly ready: Uint8Array;
}

/** What is known of one deal. */
export class Promised {
  /** Whether we have tried to add something. */
  offered = false;
  /** Which of our nonces the server has, if any. */
  taken: Uint8Array | undefined;
  /** The event after which it has it. */
  takenAt = 0;
  /** What it started from, once it has. */
  terms: Terms | undefined;
  /** What we were dealt, if we saw it. */
  hand: Card[] | undefined;
  /** The last event of it that we saw. */
  seen = 0;
  /** Why it is not checked in full, or "". */
  gap = "";
  /** Whether we have said what came of it. */
  told = false;

  constructor(
    readonly game: number,
    readonly deal: number,
    /** The log in which the server spoke of it last. */
    readonly log: string,
    /** Empty: the server committed itself to nothing. */
    readonly commitment: Uint8Array,
    /** What the commitment binds; 0 for a deal by deal/1. */
    readonly rounds: number,
    readonly own: OwnNonces = { early: randomBytes(32), ready: randomBytes(32) },
  ) {}

  /** What we add to it. */
  offer(when: keyof OwnNonces): Offer {
    const { commitment, rounds } = this;
    return { nonce: this.own[when], commitment, rounds };
  }

  /**
   * Compares the nonce of our seat, by what the server says, with the one that it took. One that went
   * with the seat is known to be taken when the server shows it.
   */
  mustBeOurs(nonce: Uint8Array): void {
    if (this.taken && !equal(nonce, this.taken)) {
      throw this.lie("it left out our nonce, which it had taken");
    }
    if (equal(nonce, this.own.early)) {
      this.taken = nonce;
    }
  }

  lie(problem: string): Lie {
    return new Lie(this.deal, problem);
  }
}

/** All that this server has promised at our table. */
export class Promises {
  readonly #all = new Map<string, Promised>();

  get(game: number, deal: number): Promised | undefined {
    return this.#all.get(`${game} ${deal}`);
  }

  /**
   * Compares what the server says that a deal follows from with what it said before. In another log
   * that may be something else: then the table was set back, as from a backup.
   */
  note(game: number, deal: number, log: string, message: Sourced): Promised {
    const { commitment, rounds } = sourceOf(message);
    const known = this.get(game, deal);
    for (const other of this.#all.values()) {
      if (other !== known && commitment.length > 0 && equal(other.commitment, commitment)) {
        throw new Lie(deal, "it is committed to the secret of another deal");
      }
    }
    const same =
      known !== undefined && equal(known.commitment, commitment) && known.rounds === rounds;
    if (known?.log === log) {
      if (!same) {
        throw known.lie("it follows from another commitment than the one before the nonces");
      }
      return known;
    }
    const own = same ? known.own : undefined;
    const promised = new Promised(game, deal, log, commitment, rounds, own);
    if (known && (!same || known.taken || known.terms)) {
      promised.gap = "the table was set back";
    }
    this.#all.set(`${game} ${deal}`, promised);
    return promised;
  }
}

export function equal(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
