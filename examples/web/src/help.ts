// What a newcomer is told: the rules in short, and what the buttons of a waiting table do.

import { TablePhase } from "../gen/odin_table/v1/table_pb.js";
import { el } from "./dom.js";
import type { Table } from "./table.js";

const RULES = [
  "Get rid of your cards first. When somebody goes out, every card left in your hand is a penalty point.",
  "The centre is empty: put down one card, or your whole hand if it is all of one number or one colour.",
  "The centre holds cards: put down as many, or exactly one more, all of one number or one colour. Read " +
    "the digits from high to low, so 2 and 8 are 82 and three fives are 555; yours must be higher.",
  "After that you take one of the cards that you have beaten. If your hand is empty, the deal is over.",
  "You may pass, and play again when your turn comes. When all others have passed, the centre is " +
    "cleared and whoever played last opens.",
  "The game ends when a total reaches the limit; the lowest total wins.",
];

/** The rules, to be opened by whoever wants them. */
export function rules(): HTMLElement {
  return el(
    "details",
    { class: "rules" },
    el("summary", {}, "How to play"),
    el("ul", {}, ...RULES.map((rule) => el("li", {}, rule))),
  );
}

/** What Ready and Start do, for a seat at a table that waits. */
export function waitingHint(table: Table): string | undefined {
  const { me, view } = table;
  if (!me || me.ready || !table.paused) {
    return undefined;
  }
  const next = view.phase === TablePhase.WAITING ? "game" : "deal";
  const ready = `Ready: the ${next} starts as soon as everybody is ready.`;
  return view.youAreHost ? `${ready} Start: it starts now, whoever is ready.` : ready;
}

/** What may be done at one's turn, in words, until a deal has been played. */
export function turnHint(table: Table): string | undefined {
  const decision = table.myDecision;
  if (!decision || (table.view.game?.deal ?? 0) > 1) {
    return undefined;
  }
  if (!decision.mayPass) {
    return "You open: choose one card, then Play.";
  }
  return decision.choices?.plays.length
    ? "Choose cards of one number or one colour that beat the centre, then Play; or Pass."
    : "Nothing in your hand beats the centre: Pass.";
}
