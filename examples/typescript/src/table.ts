// What this client knows of its table: as much as it needs to play and to tell the result.

import type { Decision } from "../gen/odin_table/v1/decision_pb.js";
import type { Event } from "../gen/odin_table/v1/event_pb.js";
import type { WatchTableResponse } from "../gen/odin_table/v1/play_pb.js";
import { TablePhase, type TableView } from "../gen/odin_table/v1/table_pb.js";

/** Folded from the items of a stream. */
export class Table {
  /** Our own. */
  seat: number | undefined;
  /** Whether the game or the next deal waits for us to say ready. */
  asked = false;
  /** The open one, whosever it is. */
  decision: Decision | undefined;
  /** Whether there is nothing left to play. */
  over = false;
  /** Whether our seat is gone: the host has removed us, or we were away. */
  unseated = false;
  readonly names = new Map<number, string>();
  scores: { seat: number; total: number }[] = [];
  /** The seats that won, once the game is over. */
  winners: number[] = [];

  /** Takes in what an item says. Unknown items and events are stepped over. */
  apply({ item }: WatchTableResponse): void {
    if (item.case === "snapshot") {
      this.#restart(item.value);
    } else if (item.case === "events") {
      for (const event of item.value.events) {
        this.#fold(event);
      }
    }
  }

  /** Forgets everything: a snapshot is all that is true now. */
  #restart({ yourSeat, phase, seats, decision, game }: TableView): void {
    const paused = [TablePhase.WAITING, TablePhase.BETWEEN_DEALS].includes(phase);
    this.seat = yourSeat;
    this.unseated = yourSeat === undefined;
    this.asked = paused && seats.some(({ seat, ready }) => seat === yourSeat && !ready);
    this.decision = decision;
    this.over = [TablePhase.GAME_OVER, TablePhase.CLOSED].includes(phase);
    this.names.clear();
    for (const { seat, name } of seats) {
      this.names.set(seat, printable(name));
    }
    this.scores = game?.players ?? [];
    this.winners = game?.winners ?? [];
  }

  #fold({ payload }: Event): void {
    switch (payload.case) {
      case "seatTaken":
        if (payload.value.seat) {
          this.names.set(payload.value.seat.seat, printable(payload.value.seat.name));
        }
        break;
      case "seatLeft":
        this.unseated ||= payload.value.seat === this.seat;
        break;
      case "readyChanged":
        if (payload.value.seat === this.seat) {
          this.asked = !payload.value.ready;
        }
        break;
      case "seatResumed":
        // A substitute was ready for us, we are not.
        this.asked ||= payload.value.seat === this.seat;
        break;
      case "dealStarted":
        this.asked = false;
        break;
      case "decisionOpened":
        this.decision = payload.value.decision;
        break;
      case "cardsPlayed":
      case "cardPickedUp":
      case "passed":
        this.decision = undefined;
        break;
      case "dealEnded":
        this.asked = true;
        this.scores = payload.value.scores;
        break;
      case "gameEnded":
        this.over = true;
        this.winners = payload.value.winners;
        break;
      case "tableClosed":
        this.over = true;
        break;
    }
  }

  /** What we have to decide now, if anything. It is given once. */
  takeDecision(): Decision | undefined {
    const decision = this.decision;
    if (decision?.seat !== this.seat || !decision?.choices) {
      return undefined;
    }
    this.decision = undefined;
    return decision;
  }

  /** How the game ended, in a sentence. */
  get result(): string {
    const winners = this.winners.map((seat) => this.names.get(seat)).join(" and ");
    const totals = this.scores.map(({ seat, total }) => `${this.names.get(seat)} ${total}`);
    return `${winners} won: ${totals.join(", ")}.`;
  }
}

/** A text from the network without what could take a terminal over. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "");
}
