// The page: which screen is shown, and what its keys and buttons do.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Card } from "../gen/odin_table/v1/card_pb.js";
import type { ActionSchema } from "../gen/odin_table/v1/decision_pb.js";
import { type Event, StreamEndReason } from "../gen/odin_table/v1/event_pb.js";
import type { WatchTableResponse } from "../gen/odin_table/v1/play_pb.js";
import { Occupant, type Seat, TablePhase } from "../gen/odin_table/v1/table_pb.js";
import * as board from "./board.js";
import { button, byId, el, redraw } from "./dom.js";
import { rules, waitingHint } from "./help.js";
import { backToTables, showLobby, sitDown, sitting, terms } from "./lobby.js";
import { News } from "./news.js";
import { Refusal } from "./refusal.js";
import { Selection } from "./selection.js";
import { call, follow, lobby, play, randomBytes } from "./server.js";
import { Table } from "./table.js";

const CODE_LENGTH = 8;

const main = byId("main");
let leave = new AbortController();

/** Tells a person what happened that nobody asked for; a refusal in the server's words. */
function say(news: unknown): void {
  const text = news instanceof Error ? new Refusal(news.cause ?? news).message : String(news);
  byId("news").textContent = text;
}

/** Says how the line to the server is when it is not well; empty when it is. */
function link(state: string): void {
  byId("link").textContent = state;
  document.body.classList.toggle("offline", state !== "");
}

/** One table on the screen, from entering it until another address is shown. */
class Sitting implements board.Hands {
  readonly selection = new Selection();
  byNumber = localStorage.getItem("odin-table.sort") === "number";
  #table: Table | undefined;
  #elsewhere = false;
  /** The commitment of the deal that was added to without being asked, as text. */
  #addedFor = "";
  /** The decision that was answered, until the stream has brought what came of it. */
  #answered = 0;
  readonly #news = new News();
  readonly #screen = el("div", { class: "screen" });
  readonly #where: { table: string } | { code: string };
  readonly #quit: AbortSignal;

  constructor(where: string, quit: AbortSignal) {
    this.#where = where.length === CODE_LENGTH ? { code: where } : { table: where };
    this.#quit = quit;
    redraw(
      main,
      this.#screen,
      el(
        "div",
        { class: "beside" },
        el(
          "details",
          { open: innerWidth > 900 },
          el("summary", {}, "What happened"),
          this.#news.list,
        ),
        rules(),
      ),
      this.#news.heard,
    );
    document.addEventListener("keydown", (event) => this.#key(event), { signal: quit });
  }

  /** Follows the table until another screen is shown. */
  async show(): Promise<void> {
    this.#elsewhere = false;
    link("connecting …");
    try {
      for await (const item of follow(this.#where, this.#quit, () => link("reconnecting …"))) {
        link("");
        this.#take(item);
        this.changed();
      }
    } catch (failure) {
      say(failure);
      link("");
      redraw(main, el("div", { class: "line" }, backToTables()));
    }
  }

  #take({ item }: WatchTableResponse): void {
    switch (item.case) {
      case "snapshot": {
        const { presence } = this.#table ?? {};
        this.#table = new Table(item.value);
        this.#table.presence = presence;
        this.selection.clear();
        void this.#news.begin(item.value);
        break;
      }
      case "events":
        for (const event of item.value.events) {
          this.#hear(event);
        }
        break;
      case "presence":
        if (this.#table) {
          this.#table.presence = item.value;
        }
        break;
      case "chat":
        this.#news.chat(item.value.lines);
        break;
      case "heartbeat":
        if (item.value.serverTime) {
          ahead = timestampMs(item.value.serverTime) - Date.now();
        }
        break;
      case "streamEnd":
        this.#elsewhere = item.value.reason === StreamEndReason.SUPERSEDED;
        if (this.#elsewhere && this.#table) {
          delete this.#table.view.decision; // what comes of it is told elsewhere
        }
        break;
    }
  }

  /** Takes an event. Throws when it ends our stay. */
  #hear(event: Event): void {
    const table = this.#table;
    if (!table) {
      return;
    }
    const removed = table.removesMe(event);
    const leaver = table.leaver(event);
    table.apply(event);
    this.#news.event(event, table, leaver);
    if (event.payload.case === "decisionOpened") {
      this.selection.clear();
    }
    if (removed) {
      throw new Error("The host has removed you from this table.");
    }
  }

  changed(): void {
    const table = this.#table;
    if (!table || this.#quit.aborted) {
      return;
    }
    this.#addToTheDeal(table);
    const { view } = table;
    const mine = table.myDecision !== undefined;
    const title = [view.options?.title || view.table, terms(view.options)].join(" · ");
    document.title = `${mine ? "Your turn" : view.table} · odin-table`;
    document.body.classList.toggle("my-turn", mine);
    const parts = [
      el("h1", {}, title),
      board.seats(table, (seat) => this.#remove(seat)),
      board.scores(table),
      view.phase === TablePhase.PLAYING && board.centre(table, this),
      board.hand(table, this),
      this.#answered === view.decision?.id ? undefined : board.choosing(table, this),
      this.#buttons(table),
    ];
    redraw(this.#screen, ...parts.filter((part) => part instanceof HTMLElement));
    countDown();
  }

  /** What there is to do beside playing. */
  #buttons(table: Table): HTMLElement {
    if (this.#elsewhere) {
      return el(
        "div",
        { class: "line" },
        el("p", {}, "You play this seat in another window now."),
        button("Play here", () => this.show(), { class: "main" }),
        backToTables(),
      );
    }
    const { phase, table: handle } = table.view;
    const { me } = table;
    const commitment = table.view.source?.commitment ?? table.view.commitment;
    // What we add to the next deal, so that the server does not choose the cards alone: fresh for each
    // button, so that nobody can have seen it before.
    const given = commitment.length > 0 ? { nonce: randomBytes(32), commitment } : {};
    const ready = (requestId: string) => ({ requestId, table: handle, ready: true, ...given });
    const hint = waitingHint(table);
    const parts: (Node | false | undefined)[] = [
      hint !== undefined && el("p", { class: "quiet hint" }, hint),
      table.view.code ? el("p", {}, `Others enter with the code ${table.view.code}`) : undefined,
      table.paused &&
        me &&
        !me.ready &&
        this.#button("Ready", (id) => lobby.setReady(ready(id)), { class: "main" }),
      table.paused && me?.ready && el("p", { class: "quiet" }, "Waiting for the others …"),
      phase === TablePhase.GAME_OVER &&
        me &&
        this.#button(
          "Another game",
          (requestId) => lobby.rematch({ requestId, table: handle, ...given }),
          {
            class: "main",
          },
        ),
      phase === TablePhase.WAITING &&
        table.view.youAreHost &&
        table.hasRoom &&
        this.#button("Add a bot", (requestId) => lobby.addBot({ requestId, table: handle })),
      table.paused &&
        table.view.youAreHost &&
        this.#button("Start", (requestId) => lobby.startGame({ requestId, table: handle })),
      (!me || me.abandoned) && table.hasRoom && sitting((name) => this.#sit(name)),
      me && !me.abandoned ? button("Leave", () => this.#leave(handle)) : backToTables(),
    ];
    return el("div", { class: "line" }, ...parts.map((part) => part || undefined));
  }

  /** Adds to the next deal as soon as there is a commitment, so that it is in there whoever starts it. */
  #addToTheDeal(table: Table): void {
    const { source, phase, table: handle } = table.view;
    const { me } = table;
    const commitment = source?.commitment ?? new Uint8Array();
    const may = me && !me.substituted && me.nonce.length === 0 && phase !== TablePhase.PLAYING;
    if (!may || commitment.length === 0 || this.#addedFor === String(commitment)) {
      return;
    }
    this.#addedFor = String(commitment);
    const nonce = randomBytes(32);
    const given = call((requestId) =>
      lobby.giveNonce({ requestId, table: handle, nonce, commitment }),
    );
    given.catch(() => undefined); // the deal has started, say
  }

  #button(
    label: string,
    attempt: (requestId: string) => Promise<unknown>,
    more: Record<string, string> = {},
  ): HTMLElement {
    return button(label, () => this.#call(attempt), more);
  }

  /** Makes a call. Tells the person what was refused; gives whether nothing was. */
  async #call(attempt: (requestId: string) => Promise<unknown>): Promise<boolean> {
    say("");
    try {
      await call(attempt);
      return true;
    } catch (failure) {
      say(failure);
      return false;
    }
  }

  async #leave(table: string): Promise<void> {
    const playing = this.#table?.view.phase === TablePhase.PLAYING;
    const sure = !playing || confirm("A bot will play for you until you are back. Leave?");
    if (sure && (await this.#call((requestId) => lobby.leaveSeat({ requestId, table })))) {
      location.hash = "/";
    }
  }

  async #remove({ seat, name, occupant }: Seat): Promise<void> {
    const table = this.#table?.view.table ?? "";
    if (occupant === Occupant.BUILT_IN_BOT) {
      await this.#call((requestId) => lobby.removeBot({ requestId, table, seat }));
    } else if (confirm(`${name} cannot sit down at this table again. Remove ${name}?`)) {
      await this.#call((requestId) => lobby.removeSeat({ requestId, table, seat, name }));
    }
  }

  async #sit(name: string): Promise<void> {
    say("");
    try {
      const code = "code" in this.#where ? this.#where.code : "";
      const seat = await sitDown(this.#table?.view.table ?? "", name, code);
      this.#table?.sitDown(seat);
      this.changed();
    } catch (failure) {
      say(failure);
    }
  }

  sort(): void {
    this.byNumber = !this.byNumber;
    localStorage.setItem("odin-table.sort", this.byNumber ? "number" : "colour");
    this.changed();
  }

  act(): void {
    const choices = this.#table?.myDecision?.choices;
    const chosen = choices && this.selection.play(choices);
    if (chosen) {
      const pickUp = chosen.goesOut ? undefined : board.takenWith(this.selection, choices);
      const { cards } = chosen;
      this.#act({ case: "playCards", value: pickUp ? { cards, pickUp } : { cards } });
    }
  }

  pass(): void {
    if (this.#table?.myDecision?.mayPass) {
      this.#act({ case: "passTurn", value: {} });
    }
  }

  pickUp(card: Card): void {
    this.#act({ case: "pickUp", value: { card } });
  }

  async #act(action: MessageInitShape<typeof ActionSchema>["action"] & {}): Promise<void> {
    const decision = this.#table?.myDecision;
    if (!decision || this.#answered === decision.id) {
      return;
    }
    this.#answered = decision.id;
    this.changed();
    const table = this.#table?.view.table ?? "";
    const request = { table, decisionId: decision.id, action: { action } };
    if (!(await this.#call((requestId) => play.act({ requestId, ...request })))) {
      this.#answered = 0;
      this.changed();
    }
  }

  #key(event: KeyboardEvent): void {
    const typing =
      event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    const choices = this.#table?.picksUp ? undefined : this.#table?.myDecision?.choices;
    if (typing || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    if (event.key === "s") {
      this.sort();
      return;
    }
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      moveFocus(event.key === "ArrowLeft" ? -1 : 1);
    } else if (!choices) {
      return;
    } else if (/^[1-9]$/.test(event.key)) {
      this.selection.type(Number(event.key), this.#table?.view.game?.hand?.cards ?? [], choices);
    } else if (event.key === "n") {
      this.selection.next(choices);
    } else if (event.key === "Escape") {
      this.selection.clear();
    } else if (event.key === "p") {
      this.pass();
    } else if (event.key === "Enter" && plays(event.target) && this.selection.play(choices)) {
      this.act();
    } else {
      return;
    }
    event.preventDefault();
    this.changed();
  }
}

/** Whether Enter plays here: not on a button that does something else. On cards Space chooses. */
function plays(target: EventTarget | null): boolean {
  return !(target instanceof HTMLButtonElement) || target.matches(".hand .card");
}

function moveFocus(by: number): void {
  const cards = [...main.querySelectorAll<HTMLElement>(".hand button.card")];
  const at = cards.findIndex((card) => card.matches(":focus"));
  cards.at((Math.max(at, by < 0 ? 0 : -1) + by) % cards.length)?.focus();
}

/** How far the server's clock is ahead of ours, in milliseconds. */
let ahead = 0;

function countDown(): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-until]")) {
    const left = Number(element.dataset.until) - Date.now() - ahead;
    element.textContent = `${Math.max(0, Math.ceil(left / 1000))} s`;
  }
}

function route(): void {
  leave.abort();
  leave = new AbortController();
  const where = location.hash.toUpperCase().replace(/[^0-9A-Z]/g, "");
  say("");
  link("");
  document.title = "odin-table";
  document.body.className = "";
  if (where) {
    void new Sitting(where, leave.signal).show();
  } else {
    void showLobby(main, leave.signal, say, link);
  }
}

addEventListener("hashchange", route);
setInterval(countDown, 500);
route();
