// What happened, in sentences.

import { Actor, CloseReason, type Event, LeaveReason } from "../gen/odin_table/v1/event_pb.js";
import { written } from "./cards.js";
import type { Table } from "./table.js";

/** What an event says, or nothing. `table` has folded it already; `leaver` is who sat there. */
export function sentence({ payload }: Event, table: Table, leaver: string): string | undefined {
  const name = (seat: number) => table.name(seat);
  switch (payload.case) {
    case "seatTaken":
      return payload.value.seat && `${payload.value.seat.name} sat down`;
    case "seatLeft":
      return payload.value.reason === LeaveReason.REMOVED
        ? `The host removed ${leaver}`
        : `${leaver} left`;
    case "hostChanged":
      return payload.value.seat === undefined
        ? undefined
        : `${name(payload.value.seat)} is the host`;
    case "readyChanged":
      return `${name(payload.value.seat)} is ${payload.value.ready ? "" : "not "}ready`;
    case "substituteSeated": {
      const why = payload.value.reason === LeaveReason.LEFT ? "left" : "is away";
      return `${name(payload.value.seat)} ${why}; ${payload.value.level} plays on`;
    }
    case "seatResumed":
      return `${name(payload.value.seat)} is back`;
    case "rematchAsked":
      return `${name(payload.value.seat)} wants another game`;
    case "tableClosed":
      return payload.value.reason === CloseReason.HOST
        ? "The host closed the table"
        : "The table has ended";
    case "gameStarted":
      return "A new game";
    case "dealStarted":
      return `Deal ${payload.value.deal}: ${name(payload.value.opener)} opens`;
    case "decisionOpened":
      return table.myDecision && "Your turn";
    case "cardsPlayed": {
      const { seat, cards, value, actor } = payload.value;
      const played = `${name(seat)} played ${value} (${cards.map(written).join(" ")})`;
      return played + by(actor);
    }
    case "cardPickedUp":
      return `${name(payload.value.seat)} took ${written(payload.value.card)}`;
    case "passed":
      return `${name(payload.value.seat)} passed${by(payload.value.actor)}`;
    case "roundEnded":
      return `Everybody passed: ${name(payload.value.opener)} opens`;
    case "dealEnded":
      return `${name(payload.value.outSeat)} went out`;
    case "gameEnded":
      return `${payload.value.winners.map(name).join(" and ")} won`;
    case "botFailed":
      return `The bot of ${name(payload.value.seat)} failed`;
    default:
      return undefined;
  }
}

function by(actor: Actor): string {
  if (actor === Actor.CLOCK) {
    return " (time was up)";
  }
  return actor === Actor.SUBSTITUTE ? " (substitute)" : "";
}
