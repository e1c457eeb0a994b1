// Checking each deal once its secret is revealed. docs/fair-deal.md says what that proves.

import { randomBytes } from "node:crypto";
import type { Card, Colour } from "../gen/odin_table/v1/card_pb.js";
import type { DealRevealed, DealStarted, Event } from "../gen/odin_table/v1/event_pb.js";
import type { WatchTableResponse } from "../gen/odin_table/v1/play_pb.js";
import type { TableView } from "../gen/odin_table/v1/table_pb.js";
import { commitment, drawDeal, drawFirst } from "./fair-deal.js";

const NO_BYTES = new Uint8Array();

/** Remembers of a deal what has to follow from its secret. */
export class DealCheck {
  /** The open one, which a nonce has to name; empty when no deal waits for nonces. */
  commitment: Uint8Array = NO_BYTES;
  #seat: number | undefined;
  #seats: number[] = [];
  /** Whether two colours leave when two play. */
  #shortDeck = false;
  #removed: Colour[] = [];
  /** Our nonce for the open commitment. */
  #made = NO_BYTES;
  /** What each seat adds to the next deal. */
  #given = new Map<number, Uint8Array>();
  /** The one under way, unless we have not seen it dealt, or it cannot be checked. */
  #deal: DealStarted | undefined;
  /**
   * Counts the cards that each seat must have been dealt: those it played and those that it has
   * left, without those it picked up.
   */
  #dealt = new Map<number, Map<Card, number>>();

  /** What we add to the next deal, so that the server does not choose the cards alone. */
  nonce(): Uint8Array {
    if (this.#made.length === 0 && this.commitment.length > 0) {
      this.#made = randomBytes(32);
    }
    return this.#made;
  }

  /** Takes in what an item says. Throws an error when a deal was not dealt as it had to be. */
  apply({ item }: WatchTableResponse): void {
    if (item.case === "snapshot") {
      this.#restart(item.value);
    } else if (item.case === "events") {
      for (const event of item.value.events) {
        this.#fold(event);
      }
    }
  }

  #restart({ commitment, yourSeat, options, game, seats }: TableView): void {
    if (!equal(commitment, this.commitment)) {
      this.#made = NO_BYTES;
    }
    this.commitment = commitment;
    this.#seat = yourSeat;
    this.#seats = game?.players.map(({ seat }) => seat) ?? [];
    this.#shortDeck = options?.shortDeck ?? false;
    this.#removed = game?.removedColours ?? [];
    this.#given = new Map(seats.map(({ seat, nonce }) => [seat, nonce]));
    this.#deal = undefined;
    const mine = seats.find(({ seat }) => seat === yourSeat);
    if (mine?.ready && !mine.substituted && commitment.length > 0) {
      this.#mustBeOurs(mine.nonce);
    }
  }

  /** Complains of a nonce that the server takes for ours and that is not. */
  #mustBeOurs(nonce: Uint8Array): void {
    if (!equal(nonce, this.#made)) {
      throw new Error("the server exchanged our nonce for the next deal");
    }
  }

  #fold({ payload }: Event): void {
    switch (payload.case) {
      case "dealCommitted":
        this.commitment = payload.value.commitment;
        this.#made = NO_BYTES;
        this.#given.clear();
        break;
      case "readyChanged":
        this.#given.set(payload.value.seat, payload.value.nonce);
        if (payload.value.seat === this.#seat && payload.value.ready) {
          this.#mustBeOurs(payload.value.nonce);
        }
        break;
      case "substituteSeated":
      case "seatLeft":
        this.#given.delete(payload.value.seat);
        break;
      case "gameStarted":
        this.#seats = payload.value.seats;
        this.#removed = payload.value.removedColours;
        break;
      case "dealStarted":
        this.#start(payload.value);
        break;
      case "cardsPlayed":
        this.#count(payload.value.seat, 1, payload.value.cards);
        break;
      case "cardPickedUp":
        this.#count(payload.value.seat, -1, [payload.value.card]);
        break;
      case "dealEnded":
        for (const { seat, remaining } of payload.value.scores) {
          this.#count(seat, 1, remaining);
        }
        break;
      case "dealRevealed":
        this.#reveal(payload.value);
        break;
      case "gameEnded":
      case "tableClosed":
        this.#mustBeRevealed();
        break;
    }
  }

  /** Looks at what the server says that the deal follows from. */
  #start(deal: DealStarted): void {
    this.#mustBeRevealed();
    const { nonces } = deal;
    if (deal.commitment.length === 0) {
      const reason = "since the server committed itself to nothing";
      console.error(`deal ${deal.deal}: cannot be checked, ${reason}`);
      return;
    }
    if (!equal(deal.commitment, this.commitment)) {
      throw fault(deal, "it follows from another commitment than the one before the nonces");
    }
    if (nonces.length !== this.#seats.length) {
      throw fault(deal, "it follows from too few nonces, or too many");
    }
    for (const [player, seat] of this.#seats.entries()) {
      const nonce = nonces[player] ?? NO_BYTES;
      if (nonce.length > 32 || !equal(nonce, this.#given.get(seat) ?? NO_BYTES)) {
        throw fault(deal, `seat ${seat} gave another nonce`);
      }
    }
    this.commitment = NO_BYTES;
    this.#deal = deal;
    this.#dealt = new Map(this.#seats.map((seat) => [seat, new Map()]));
  }

  #count(seat: number, change: number, cards: Card[]): void {
    const counts = this.#dealt.get(seat);
    for (const card of cards) {
      counts?.set(card, (counts.get(card) ?? 0) + change);
    }
  }

  /** Works the deal out again, and compares. */
  #reveal({ deal: number, secret }: DealRevealed): void {
    const deal = this.#deal;
    this.#deal = undefined;
    if (!deal) {
      console.error(`deal ${number}: not checked, since we did not see it dealt`);
      return;
    }
    if (!equal(commitment(secret), deal.commitment)) {
      throw fault(deal, "the secret is not what the server committed itself to");
    }
    let order: Card[];
    if (deal.deal === 1) {
      const short = this.#shortDeck && this.#seats.length === 2;
      const drawn = drawFirst(secret, deal.nonces, short);
      const removed = String(drawn.removed) === String(this.#removed);
      if (this.#seats[drawn.opener] !== deal.opener || !removed) {
        throw fault(deal, "another seat had to open it, or other colours had to leave");
      }
      order = drawn.order;
    } else {
      order = drawDeal(secret, deal.nonces, deal.deal, this.#removed);
    }
    for (const [player, seat] of this.#seats.entries()) {
      const hand = order.slice(9 * player, 9 * player + 9).sort((one, other) => one - other);
      const counts = this.#dealt.get(seat) ?? new Map();
      this.#count(seat, -1, hand);
      const shown = seat === this.#seat ? (deal.hand?.cards ?? []) : hand;
      if ([...counts.values()].some((count) => count !== 0) || String(hand) !== String(shown)) {
        throw fault(deal, `seat ${seat} had to get other cards`);
      }
    }
    console.error(`deal ${deal.deal}: checked`);
  }

  /** Complains of a deal that is over without its secret. */
  #mustBeRevealed(): void {
    if (this.#deal) {
      throw fault(this.#deal, "the server committed itself to it and never revealed it");
    }
  }
}

function equal(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function fault({ deal }: DealStarted, problem: string): Error {
  return new Error(`deal ${deal}: ${problem}`);
}
