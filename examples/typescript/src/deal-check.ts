// Checking each deal: it has to follow from what was promised. docs/fair-deal.md says what that proves.

import type { Card, Colour } from "../gen/odin_table/v1/card_pb.js";
import type { DealStarted, Event } from "../gen/odin_table/v1/event_pb.js";
import type { WatchTableResponse } from "../gen/odin_table/v1/play_pb.js";
import { Occupant, type Seat, TablePhase, type TableView } from "../gen/odin_table/v1/table_pb.js";
import {
  commitment,
  drawDeal,
  drawFirst,
  keyRounds,
  MAX_ROUNDS,
  ROUNDS,
  word,
} from "./fair-deal.js";
import {
  equal,
  type Offer,
  type Promised,
  Promises,
  type Sourced,
  sourceOf,
  type Terms,
} from "./promises.js";

const NO_BYTES = new Uint8Array();

/** Compares what the server says of the deals with what it has promised. */
export class DealCheck {
  /** How many deals could not be checked in full. */
  notInFull = 0;
  readonly #promises = new Promises();
  #log = "";
  #game = 0;
  #seat: number | undefined;
  #seats: number[] = [];
  /** Whether two colours leave when two play. */
  #shortDeck = false;
  #removed: Colour[] = [];
  /** What each seat adds to the next deal. */
  #given = new Map<number, Uint8Array>();
  /** The seats that persons hold. */
  readonly #people = new Set<number>();
  /** The deal that waits for nonces, if one does. */
  #open: Promised | undefined;
  /** The one that is being played. */
  #deal: Promised | undefined;
  /** Whether its cards are played, and its secret is due. */
  #over = false;
  /**
   * Counts the cards that each seat must have been dealt: those it played and those that it has
   * left, without those it picked up. Undefined when we did not see all of the deal.
   */
  #dealt: Map<number, Map<Card, number>> | undefined;

  /** What we add to the next deal when we say that we are ready, if one waits for nonces. */
  get offer(): Offer | undefined {
    return this.#open?.offer("ready");
  }

  /**
   * What we add to the next deal as soon as it waits for nonces, so that it is in there whoever starts
   * it and when. Undefined when we have added something, or tried to.
   */
  get earlyOffer(): Offer | undefined {
    const open = this.#open;
    return open && !open.offered && !open.taken ? open.offer("early") : undefined;
  }

  /** Notes that the server has what we added, and since which event; 0 when it has not. */
  taken(offer: Offer | undefined, seq: number): void {
    const open = this.#open;
    if (!open || !offer) {
      return;
    }
    open.offered = true;
    if (seq > 0) {
      open.taken = offer.nonce;
      open.takenAt = seq;
    }
  }

  /** Takes in what an item says. Throws a Lie as soon as one shows. */
  apply({ item }: WatchTableResponse): void {
    if (item.case === "snapshot") {
      this.restart(item.value);
    } else if (item.case === "events") {
      for (const event of item.value.events) {
        this.#fold(event);
      }
    }
  }

  /** Takes in a snapshot, and compares it with the promises. */
  restart(view: TableView): void {
    const { game, seats, phase, yourSeat } = view;
    const deal = game?.deal ?? 0;
    this.#log = view.logId;
    this.#game = game?.game ?? 0;
    this.#seat = yourSeat;
    this.#seats = game?.players.map(({ seat }) => seat) ?? [];
    this.#shortDeck = view.options?.shortDeck ?? false;
    this.#removed = game?.removedColours ?? [];
    this.#given = new Map(seats.map(({ seat, nonce }) => [seat, nonce]));
    for (const seat of seats) {
      this.#sits(seat);
    }
    if (this.#deal && (this.#deal.game !== this.#game || this.#deal.deal !== deal)) {
      this.#notInFull(this.#deal, "we have not seen its end");
    }
    const playing = phase === TablePhase.PLAYING;
    this.#open = undefined;
    if (!playing && sourceOf(view).commitment.length > 0) {
      const [nextGame, nextDeal] =
        phase === TablePhase.BETWEEN_DEALS ? [this.#game, deal + 1] : [this.#game + 1, 1];
      const open = this.#commit(nextGame, nextDeal, view);
      // An older snapshot may have been on its way.
      if (view.seq >= open.takenAt && yourSeat !== undefined) {
        open.mustBeOurs(this.#given.get(yourSeat) ?? NO_BYTES);
      }
    }
    if (deal > 0) {
      this.#join(deal, view, playing);
    }
  }

  /** Notes a commitment to a deal of which no card has been dealt. */
  #commit(game: number, deal: number, message: Sourced): Promised {
    const promised = this.#promises.note(game, deal, this.#log, message);
    if (promised.terms) {
      throw promised.lie("it is dealt a second time");
    }
    this.#open = promised;
    return promised;
  }

  /** Takes in a deal as a snapshot shows it: at its start, in the middle or at its end. */
  #join(number: number, { game, seq }: TableView, playing: boolean): void {
    if (!game) {
      return;
    }
    const known = this.#promises.get(this.#game, number);
    const deal = this.#promises.note(this.#game, number, this.#log, game);
    if (!known) {
      deal.gap = "we came when it had started";
      deal.told = !playing; // over before we came
    }
    if (deal.told) {
      return;
    }
    const { opener, centre, discarded, remainingHands } = game;
    const { nonces, keyRounds: rounds } = sourceOf(game);
    const terms = { seats: this.#seats, nonces, opener, removed: this.#removed, rounds };
    const mine =
      deal.taken !== undefined && this.#seat !== undefined && this.#people.has(this.#seat);
    if (rounds !== deal.rounds && rounds !== keyRounds(deal.rounds, mine)) {
      throw deal.lie("its key was stretched less than it had to be");
    }
    const touched = centre.length + discarded.length + remainingHands.length > 0;
    if (!deal.terms) {
      this.#begin(deal, terms);
      if (touched) {
        this.#miss(deal);
      } else {
        deal.hand = game.hand?.cards;
      }
    } else if (text(deal.terms) !== text(terms)) {
      throw deal.lie("it did not start from that");
    } else if (deal.seen !== seq) {
      this.#miss(deal);
    }
    this.#deal = deal;
    deal.seen = seq;
    if (!playing && remainingHands.length > 0) {
      this.#reveal(deal, game.secret);
    } else if (!playing) {
      this.#notInFull(deal, "the table was closed before its end");
    }
  }

  /** Notes that whose each card was is not known. */
  #miss(deal: Promised): void {
    deal.gap = "we have not seen all of it";
    this.#dealt = undefined;
  }

  /** Notes who holds a seat. */
  #sits({ seat, occupant }: Seat): void {
    if (occupant === Occupant.PERSON) {
      this.#people.add(seat);
    } else {
      this.#people.delete(seat);
    }
  }

  /** Notes what a seat adds to the next deal. */
  #gives(seat: number, nonce: Uint8Array, seq: number): void {
    this.#given.set(seat, nonce);
    if (seat === this.#seat && this.#open && seq >= this.#open.takenAt) {
      this.#open.mustBeOurs(nonce);
    }
  }

  #fold({ seq, payload }: Event): void {
    const deal = this.#deal;
    if (deal) {
      deal.seen = seq;
      this.#mustBeRevealed(deal, payload.case);
    }
    switch (payload.case) {
      case "dealCommitted":
        this.#given.clear();
        this.#commit(payload.value.game, payload.value.deal, payload.value);
        break;
      case "readyChanged":
      case "rematchAsked":
        // By deal/2 they say nothing of nonces. We never say that we are not ready.
        if (!this.#open?.rounds) {
          this.#gives(payload.value.seat, payload.value.nonce, seq);
        }
        break;
      case "nonceGiven":
        this.#gives(payload.value.seat, payload.value.nonce, seq);
        break;
      case "seatTaken":
        if (payload.value.seat) {
          this.#sits(payload.value.seat);
        }
        break;
      case "substituteSeated":
      case "seatLeft":
        this.#void(payload.value.seat);
        break;
      case "gameStarted":
        this.#game = payload.value.game;
        this.#seats = payload.value.seats;
        this.#removed = payload.value.removedColours;
        break;
      case "dealStarted":
        this.#start(payload.value, seq);
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
        this.#over = true;
        if (deal?.commitment.length === 0) {
          this.#notInFull(deal, "the server committed itself to nothing");
        }
        break;
      case "stretchedDealRevealed":
      case "dealRevealed":
        if (deal) {
          this.#reveal(deal, payload.value.secret);
        }
        break;
      case "tableClosed":
        if (deal) {
          this.#notInFull(deal, "the table was closed before its end");
        }
        break;
    }
  }

  /** Notes that a seat does not add to the next deal after all. */
  #void(seat: number): void {
    this.#given.delete(seat);
    const open = this.#open;
    if (seat === this.#seat && open?.taken) {
      open.taken = undefined;
      open.offered = false;
      open.gap = "the server says that we were away, so that our nonce is void";
    }
  }

  /** Takes in what the server says that a deal follows from. */
  #start(started: DealStarted, seq: number): void {
    const { deal: number, opener, hand } = started;
    const { nonces, keyRounds: rounds } = sourceOf(started);
    const known = this.#promises.get(this.#game, number);
    const deal = this.#promises.note(this.#game, number, this.#log, started);
    if (!known && deal.commitment.length > 0) {
      throw deal.lie("it follows from another commitment than the one before the nonces");
    }
    if (deal.terms) {
      throw deal.lie("it is dealt a second time");
    }
    const hasPerson = this.#seats.some((seat) => this.#people.has(seat));
    if (rounds !== keyRounds(deal.rounds, hasPerson)) {
      throw deal.lie("its key was stretched less than it had to be");
    }
    if (hasPerson && rounds < ROUNDS) {
      console.error(`deal ${number}: WARNING: its key is hardly stretched: a server could search`);
    }
    for (const [player, nonce] of nonces.entries()) {
      const seat = this.#seats[player];
      if (seat !== undefined && !equal(nonce, this.#given.get(seat) ?? NO_BYTES)) {
        throw deal.lie(`seat ${seat} gave another nonce`);
      }
    }
    deal.hand = hand?.cards;
    deal.seen = seq;
    this.#open = undefined;
    this.#deal = deal;
    this.#begin(deal, { seats: this.#seats, nonces, opener, removed: this.#removed, rounds });
  }

  /** Notes what a deal starts from. Our own nonce has to be in it. */
  #begin(deal: Promised, terms: Terms): void {
    const before = this.#promises.get(deal.game, deal.deal - 1);
    deal.terms = terms;
    this.#over = false;
    this.#dealt = new Map(terms.seats.map((seat) => [seat, new Map()]));
    if (before?.terms && before.log === deal.log) {
      if (String(before.terms.removed) !== String(terms.removed)) {
        throw deal.lie("other colours have left than before");
      }
    }
    if (deal.commitment.length === 0) {
      return;
    }
    if (terms.nonces.length !== terms.seats.length) {
      throw deal.lie("it follows from too few nonces, or too many");
    }
    for (const [player, seat] of terms.seats.entries()) {
      const nonce = terms.nonces[player] ?? NO_BYTES;
      if (nonce.length > 32) {
        throw deal.lie(`seat ${seat} gave another nonce`);
      }
      if (seat === this.#seat) {
        deal.mustBeOurs(nonce);
      }
    }
  }

  #count(seat: number, change: number, cards: Card[]): void {
    const counts = this.#dealt?.get(seat);
    for (const card of cards) {
      counts?.set(card, (counts.get(card) ?? 0) + change);
    }
  }

  /** Works the deal out again, and compares. */
  #reveal(deal: Promised, secret: Uint8Array): void {
    const { terms } = deal;
    if (!terms || !equal(commitment(secret, deal.rounds), deal.commitment)) {
      throw deal.lie("the secret is not what the server committed itself to");
    }
    const { seats, nonces, opener, removed, rounds } = terms;
    if (rounds > MAX_ROUNDS) {
      this.#notInFull(deal, "its key has more rounds than we compute");
      return;
    }
    let order: Card[];
    if (deal.deal === 1) {
      const drawn = drawFirst(secret, nonces, this.#shortDeck && seats.length === 2, rounds);
      if (seats[drawn.opener] !== opener || String(drawn.removed) !== String(removed)) {
        throw deal.lie("another seat had to open it, or other colours had to leave");
      }
      order = drawn.order;
    } else {
      order = drawDeal(secret, nonces, deal.deal, removed, rounds);
    }
    for (const [player, seat] of seats.entries()) {
      const hand = order.slice(9 * player, 9 * player + 9).sort((one, other) => one - other);
      const counts = this.#dealt?.get(seat) ?? new Map();
      this.#count(seat, -1, hand);
      const shown = seat === this.#seat ? (deal.hand ?? hand) : hand;
      if ([...counts.values()].some((count) => count !== 0) || String(hand) !== String(shown)) {
        throw deal.lie(`seat ${seat} had to get other cards`);
      }
    }
    if (deal.gap) {
      this.#notInFull(deal, deal.gap);
      return;
    }
    console.error(`deal ${deal.deal}: checked, word ${word(deal.commitment, seats, nonces)}`);
    deal.told = true;
    this.#deal = undefined;
  }

  /**
   * Complains of a deal that is over without its secret. Events that we do not know may come
   * between.
   */
  #mustBeRevealed(deal: Promised, next: string | undefined): void {
    const due = this.#over || next === "dealStarted";
    const shown = next === "dealRevealed" || next === "stretchedDealRevealed";
    if (due && next !== undefined && !shown) {
      throw deal.lie("the server committed itself to it and never revealed it");
    }
  }

  /** Says aloud that a deal could not be checked in full. */
  #notInFull(deal: Promised, reason: string): void {
    this.notInFull++;
    console.error(`deal ${deal.deal}: NOT CHECKED IN FULL: ${deal.gap || reason}`);
    deal.told = true;
    this.#deal = undefined;
  }
}

/** All of it, for comparing. */
function text({ seats, nonces, opener, removed, rounds }: Terms): string {
  const given = nonces.map((nonce) => Buffer.from(nonce).toString("hex"));
  return [seats, given, opener, removed, rounds].join(";");
}
