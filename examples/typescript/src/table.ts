// What this client knows of its table: as much as it needs to play and to tell the result.

import type { Decision } from "../gen/odin_table/v1/decision_pb.js";
import type { Event } from "../gen/odin_table/v1/event_pb.js";
import type { WatchTableResponse } from "../gen/odin_table/v1/play_pb.js";
import { TablePhase, type TableView } from "../gen/odin_table/v1/table_pb.js";

/** The sum of one seat's penalties. */
export interface Total {
  seat: number;
  total: number;
}

/** Folded from the items of a stream. */
export class Table {
  /** Our own. */
  seat: number | undefined;
  phase = TablePhase.UNSPECIFIED;
  /** Whether we have said that we are ready for the game or the next deal. */
  ready = false;
  /** The open one, whosever it is. */
  decision: Decision | undefined;
  readonly names = new Map<number, string>();
  /** The penalties of the game so far, in the order of the seats. */
  totals: Total[] = [];
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

  #restart(view: TableView): void {
    this.seat = view.yourSeat;
    this.phase = view.phase;
    this.ready = view.seats.some((seat) => seat.seat === view.yourSeat && seat.ready);
    this.decision = view.decision;
    this.names.clear();
    for (const { seat, name } of view.seats) {
      this.names.set(seat, printable(name));
    }
    this.totals = view.game?.players.map(({ seat, total }) => ({ seat, total })) ?? [];
    this.winners = view.game?.winners ?? [];
  }

  #fold({ payload }: Event): void {
    switch (payload.case) {
      case "seatTaken":
        if (payload.value.seat) {
          this.names.set(payload.value.seat.seat, printable(payload.value.seat.name));
        }
        break;
      case "readyChanged":
        if (payload.value.seat === this.seat) {
          this.ready = payload.value.ready;
        }
        break;
      case "rematchAsked":
        this.phase = TablePhase.WAITING;
        this.ready = false;
        break;
      case "gameStarted":
        this.totals = [];
        this.winners = [];
        break;
      case "dealStarted":
        this.phase = TablePhase.PLAYING;
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
        this.phase = TablePhase.BETWEEN_DEALS;
        this.ready = false;
        this.totals = payload.value.scores.map(({ seat, total }) => ({ seat, total }));
        break;
      case "gameEnded":
        this.phase = TablePhase.GAME_OVER;
        this.winners = payload.value.winners;
        break;
      case "tableClosed":
        this.phase = TablePhase.CLOSED;
        this.decision = undefined;
        break;
    }
  }

  /** What we have to decide now, if anything. */
  get myDecision(): Decision | undefined {
    return this.decision?.seat === this.seat && this.decision?.choices ? this.decision : undefined;
  }

  /** Whether the game or the next deal waits for everybody to be ready. */
  get paused(): boolean {
    return this.phase === TablePhase.WAITING || this.phase === TablePhase.BETWEEN_DEALS;
  }

  /** Whether there is nothing left to play. */
  get over(): boolean {
    return this.phase === TablePhase.GAME_OVER || this.phase === TablePhase.CLOSED;
  }

  /** The end of the game in a sentence. */
  get result(): string {
    if (this.winners.length === 0) {
      return "The table was closed before the game was over.";
    }
    const winners = this.winners.map((seat) => this.names.get(seat)).join(" and ");
    const totals = this.totals.map(({ seat, total }) => `${this.names.get(seat)} ${total}`);
    return `${winners} won: ${totals.join(", ")}.`;
  }
}

/** A text from the network without what could take a terminal over. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "");
}
