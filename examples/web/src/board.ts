// A table as one sees it: the others, the centre, the hand, and what can be done.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Card } from "../gen/odin_table/v1/card_pb.js";
import { type Choices, type Decision, DecisionKind } from "../gen/odin_table/v1/decision_pb.js";
import { Occupant, type Seat, TablePhase } from "../gen/odin_table/v1/table_pb.js";
import { colour, letter, number, sorted, spoken, written } from "./cards.js";
import { button, el } from "./dom.js";
import { turnHint } from "./help.js";
import { terms } from "./lobby.js";
import type { Selection } from "./selection.js";
import type { Table } from "./table.js";

/** What a person can do at a table. */
export interface Hands {
  selection: Selection;
  byNumber: boolean;
  /** Draws everything anew, after the selection or the order has changed. */
  changed(): void;
  sort(): void;
  act(): void;
  pass(): void;
  pickUp(card: Card): void;
}

/** A card that one looks at, or presses. `name` is what it is called to whoever hears the page. */
function face(
  card: Card,
  press?: () => void,
  name = spoken(card),
  more: Record<string, string | boolean> = {},
) {
  const inside = [
    el("span", { class: "letter", "aria-hidden": "true" }, letter(card)),
    el("span", { class: "number", "aria-hidden": "true" }, number(card)),
  ];
  const look = { class: `card ${colour(card)}`, title: spoken(card), ...more };
  return press
    ? el(
        "button",
        { type: "button", click: press, "data-key": written(card), ...look },
        el("span", { class: "heard" }, name),
        ...inside,
      )
    : el("span", { role: "img", "aria-label": name, ...look }, ...inside);
}

/** Everybody at the table, in the order of the seats. The host may `remove` others while it waits. */
export function seats(table: Table, remove: (seat: Seat) => void): HTMLElement {
  const { phase, youAreHost } = table.view;
  const rows = table.taken.map((seat) => {
    const player = table.playing(seat);
    const acting = table.view.decision?.seat === seat.seat;
    const mine = seat.seat === table.view.yourSeat;
    const playing = table.view.phase === TablePhase.PLAYING && player;
    return el(
      "li",
      {
        class: `seat${acting ? " acting" : ""}${mine ? " mine" : ""}`,
        "data-seat": String(seat.seat),
      },
      el("span", { class: "turn", "aria-hidden": "true" }, acting ? "▶" : ""),
      el("span", { class: "name" }, seat.name, mine && el("small", {}, " (you)")),
      el("span", { class: "count" }, playing ? counted(player.cardCount) : ""),
      el(
        "span",
        { class: "backs", "aria-hidden": "true" },
        "▮".repeat(playing ? player.cardCount : 0),
      ),
      el("span", { class: "total" }, player ? `${player.total} pt` : ""),
      el("span", { class: "doing" }, doing(table, seat)),
      acting && timeLeft(table.view.decision?.deadline),
      youAreHost && !mine && phase === TablePhase.WAITING && removing(seat, remove),
    );
  });
  const free = table.view.phase === TablePhase.WAITING ? table.view.seats.length - rows.length : 0;
  return el(
    "ul",
    { class: "seats", "aria-label": "At the table" },
    ...rows,
    free > 0 &&
      el("li", { class: "free" }, free === 1 ? "1 seat is free" : `${free} seats are free`),
  );
}

function removing(seat: Seat, remove: (seat: Seat) => void): HTMLElement {
  const name = `Remove ${seat.name}`;
  const more = { class: "link", "aria-label": name, "data-key": name };
  return button("Remove", () => remove(seat), more);
}

/** A number of cards, which a screen reader says as such. */
function counted(cards: number): HTMLElement {
  return el("span", { role: "img", "aria-label": `${cards} cards` }, cards);
}

/** How long until then; the page counts it down. */
function timeLeft(until: Timestamp | undefined): HTMLElement | undefined {
  return until && el("time", { class: "left", "data-until": String(timestampMs(until)) });
}

function doing(table: Table, seat: Seat): string {
  const player = table.playing(seat);
  const words = [
    seat.occupant === Occupant.BUILT_IN_BOT ? seat.level : "",
    seat.host ? "host" : "",
    seat.substituted ? "played by a substitute" : table.away(seat.seat) ? "away" : "",
  ];
  if (table.paused) {
    words.push(seat.ready ? "ready" : "not ready");
  } else if (table.view.decision?.seat === seat.seat) {
    words.push("thinking");
  } else if (player?.passed) {
    words.push("passed");
  } else if (table.view.game?.centreSeat === seat.seat) {
    words.push("in the centre");
  }
  if (player && table.view.game?.winners.includes(seat.seat)) {
    words.push("winner");
  }
  return words.filter(Boolean).join(" · ");
}

/** The set that has to be beaten, with the card that we would take from it. */
export function centre(table: Table, hands: Hands): HTMLElement {
  const { game } = table.view;
  const decision = table.myDecision;
  const choices = decision?.choices;
  const takes = table.picksUp || choices?.plays.length ? (choices?.pickUps ?? []) : [];
  const shown = game?.centre ?? [];
  // After a response the cards that may be taken lie no longer in the centre.
  const cards = table.picksUp ? takes : shown;
  const press = (card: Card) => () => {
    hands.selection.take = card;
    table.picksUp ? hands.pickUp(card) : hands.changed();
  };
  const faces = cards.map((card) => {
    if (!takes.includes(card)) {
      return face(card);
    }
    const taken = !table.picksUp && choices && card === takenWith(hands.selection, choices);
    const pressed = { "aria-pressed": String(taken ?? false) };
    return face(card, press(card), `take ${spoken(card)}`, pressed);
  });
  return el(
    "section",
    { class: "centre", "aria-labelledby": "centre-title" },
    el("h2", { id: "centre-title" }, centreTitle(table, decision)),
    el("div", { class: "cards" }, ...faces),
    takes.length > 1 && el("p", { class: "quiet" }, "You take one of them: press it."),
  );
}

function centreTitle(table: Table, decision: Decision | undefined): string {
  const { game } = table.view;
  if (decision?.kind === DecisionKind.PICK_UP) {
    return "Take one of these";
  }
  if (!game || game.centre.length === 0) {
    return game ? "The centre is empty" : `Game ${terms(table.view.options)}`;
  }
  const held = `${game.centreValue} by ${table.playerName(game.centreSeat)}`;
  const count = game.centre.length;
  return decision ? `${held}: respond with ${count} or ${count + 1} cards` : held;
}

/** Our own cards. Those that can be played now are pressed to choose them. */
export function hand(table: Table, hands: Hands): HTMLElement | undefined {
  const held = table.view.game?.hand;
  if (!held || table.view.phase !== TablePhase.PLAYING) {
    return undefined;
  }
  const choices = table.picksUp ? undefined : table.myDecision?.choices;
  const cards = sorted(held.cards, hands.byNumber).map((card) => {
    if (!choices) {
      return face(card);
    }
    const chosen = hands.selection.cards.includes(card);
    const usable = choices.plays.some((play) => play.cards.includes(card));
    const press = () => {
      hands.selection.toggle(card, choices);
      hands.changed();
    };
    const look = { "aria-pressed": String(chosen), "data-unusable": !usable };
    return face(card, press, spoken(card), look);
  });
  return el(
    "section",
    { class: "hand", "aria-labelledby": "hand-title" },
    el("h2", { id: "hand-title" }, `Your hand: ${held.cards.length}`),
    button(hands.byNumber ? "by number" : "by colour", () => hands.sort(), {
      class: "link",
      "data-key": "sort",
    }),
    el("div", { class: "cards" }, ...cards),
  );
}

/** What we may do now, with all plays to choose from. */
export function choosing(table: Table, hands: Hands): HTMLElement | undefined {
  const decision = table.myDecision;
  const choices = decision?.choices;
  if (!decision || !choices || table.picksUp) {
    return undefined;
  }
  const { selection } = hands;
  const hint = turnHint(table);
  const play = selection.play(choices);
  const plays = choices.plays.map((one) => {
    const choose = () => {
      selection.cards = selection.is(one) ? [] : one.cards;
      hands.changed();
    };
    const name = `: ${one.cards.map(spoken).join(", ")}${one.goesOut ? ", your whole hand" : ""}`;
    const shown = ` ${one.cards.map(written).join(" ")}${one.goesOut ? " ✓" : ""}`;
    return el(
      "button",
      {
        type: "button",
        click: choose,
        class: "play",
        "data-key": one.cards.map(written).join(),
        "aria-pressed": String(selection.is(one)),
      },
      el("strong", {}, one.value),
      el("span", { class: "heard" }, name),
      el("span", { "aria-hidden": "true" }, shown),
    );
  });
  return el(
    "section",
    { class: "choosing", "aria-label": "Your turn" },
    hint !== undefined && el("p", { class: "quiet hint" }, hint),
    el(
      "div",
      { class: "deciding" },
      el("output", {}, said(table, selection, choices)),
      button("Play", () => hands.act(), { class: "main", disabled: !play }),
      decision.mayPass && button("Pass", () => hands.pass()),
    ),
    plays.length > 0 &&
      el("div", { class: "plays", role: "group", "aria-label": "Plays" }, ...plays),
    el(
      "p",
      { class: "keys" },
      "Keys: 1–9 and n choose, Enter plays, p passes, s sorts, Esc clears",
    ),
  );
}

function said(table: Table, selection: Selection, choices: Choices): string {
  const play = selection.play(choices);
  if (!play) {
    return selection.problem(choices);
  }
  const beaten = table.view.game?.centreValue;
  const over = beaten ? ` beats ${beaten}` : "";
  if (play.goesOut) {
    return `${play.value}${over} and ends the deal`;
  }
  const take = takenWith(selection, choices);
  return `${play.value}${over}${take ? `, you take ${written(take)}` : ""}`;
}

/** The card that goes into the hand with a response: the chosen one, else the highest. */
export function takenWith(selection: Selection, { pickUps }: Choices): Card | undefined {
  if (selection.take !== undefined && pickUps.includes(selection.take)) {
    return selection.take;
  }
  return sorted(pickUps, true)[0];
}

/** The penalties so far, and what everybody had left. */
export function scores(table: Table): HTMLElement | undefined {
  const { game, phase } = table.view;
  if (!game || (phase !== TablePhase.BETWEEN_DEALS && phase !== TablePhase.GAME_OVER)) {
    return undefined;
  }
  const deals = game.players[0]?.penalties.map((_, deal) => `D${deal + 1}`) ?? [];
  const rows = game.players.map(({ seat, penalties, total }) => {
    const left = game.remainingHands.find((one) => one.seat === seat)?.cards ?? [];
    return el(
      "tr",
      { class: game.winners.includes(seat) ? "winner" : "" },
      el("th", { scope: "row" }, table.playerName(seat)),
      ...penalties.map((penalty) => el("td", {}, penalty)),
      el("td", { class: "sum" }, total),
      el("td", { class: "left" }, ...(left.length ? left.map((card) => face(card)) : ["out!"])),
    );
  });
  const heads = ["player", ...deals, "total", "left"].map((head) =>
    el("th", { scope: "col" }, head),
  );
  const winners = game.winners.map((seat) => table.playerName(seat)).join(" and ");
  const until = timeLeft(table.view.nextDealTime);
  return el(
    "section",
    { class: "scores", "aria-labelledby": "scores-title" },
    el("h2", { id: "scores-title" }, winners ? `${winners} won` : `Deal ${game.deal} is over`),
    until && el("p", { class: "quiet" }, "The next deal starts in ", until, " at the latest."),
    el(
      "div",
      { class: "wide" },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)),
    ),
  );
}
