// What happened at a table: a list to look at, and what a screen reader reads out.

import { clone, create } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ChatLine, Event } from "../gen/odin_table/v1/event_pb.js";
import { SeatSchema, type TableView, TableViewSchema } from "../gen/odin_table/v1/table_pb.js";
import { el } from "./dom.js";
import { sentence } from "./log.js";
import { call, history } from "./server.js";
import { Table } from "./table.js";

const LINES_KEPT = 200;
/** Sentences that are kept for a screen reader, which reads each as it comes. */
const HEARD_KEPT = 20;
/** How many events before a snapshot are told again at the most. One page of the history has them. */
const EVENTS_TOLD_AGAIN = 500;

interface Entry {
  time: number;
  text: string;
}

export class News {
  readonly list = el("ol", { class: "log", "aria-label": "What happened", tabindex: "0" });
  /** The same for the ear: the list may be folded away, and then nobody hears it. */
  readonly heard = el("div", { class: "heard", role: "log", "aria-label": "News of the table" });
  #chat: ChatLine[] = [];
  /** What events have said since the last snapshot. */
  #since: Entry[] = [];
  /** Whether it is not known yet what led to the snapshot. Old lines of chat come in that time. */
  #catchingUp = false;

  /**
   * Begins the list again with what led to a snapshot. That is for the eye only: nobody wants to
   * hear what they have missed line by line. Without an answer the list stays as it is.
   */
  async begin(now: TableView): Promise<void> {
    const since: Entry[] = [];
    this.#since = since;
    this.#catchingUp = true;
    const before = await toldAgain(clone(TableViewSchema, now)).catch(() => undefined);
    if (this.#since !== since) {
      return; // another snapshot came meanwhile
    }
    this.#catchingUp = false;
    if (before) {
      const texts = merged([...before, ...since], this.#chat.map(spoken));
      this.list.replaceChildren();
      for (const text of texts.slice(-LINES_KEPT)) {
        this.#show(text);
      }
    }
  }

  /** Tells an event. `table` has folded it already; `leaver` is who sat there before. */
  event(event: Event, table: Table, leaver: string): void {
    const text = sentence(event, table, leaver);
    if (text) {
      this.#since.push({ time: milliseconds(event.time), text });
      this.#show(text);
      this.#read(text);
    }
  }

  /** Tells lines of chat, but for those that were told already: each stream begins with old ones. */
  chat(lines: ChatLine[]): void {
    const last = this.#chat.at(-1)?.number ?? 0;
    const fresh = lines.filter(({ number }) => number > last);
    this.#chat = [...this.#chat, ...fresh].slice(-LINES_KEPT);
    for (const { text } of fresh.map(spoken)) {
      this.#show(text);
      if (!this.#catchingUp) {
        this.#read(text);
      }
    }
  }

  #show(text: string): void {
    append(this.list, el("li", {}, text), LINES_KEPT);
    this.list.scrollTop = this.list.scrollHeight;
  }

  #read(text: string): void {
    append(this.heard, el("p", {}, text), HEARD_KEPT);
  }
}

/** What events before a snapshot say: of the running or last game, and of what came after it. */
async function toldAgain(now: TableView): Promise<Entry[]> {
  const afterSeq = Math.max(0, now.seq - EVENTS_TOLD_AGAIN);
  const request = { table: now.table, afterSeq, pageSize: EVENTS_TOLD_AGAIN };
  const answer = await call(() => history.getHistory(request));
  if (answer.logId !== now.logId) {
    throw new Error("The table has another log by now.");
  }
  const events = answer.events.filter(({ seq }) => seq <= now.seq);
  const start = events.findLastIndex(({ payload }) => payload.case === "gameStarted");
  const table = tableBefore(events, now);
  return events.flatMap((event, index) => {
    const leaver = table.leaver(event);
    table.apply(event);
    const text = index < start ? undefined : sentence(event, table, leaver);
    return text ? [{ time: milliseconds(event.time), text }] : [];
  });
}

/** The table before these events, as far as that is known: who sat where. */
function tableBefore(events: Event[], now: TableView): Table {
  const seats = now.seats.map(({ seat, name }) => {
    // A player keeps their name after the game. Of who sat there before somebody new nothing is known.
    const player = now.game?.players.find((one) => one.seat === seat)?.name;
    const isNew = events.some(
      ({ payload }) => payload.case === "seatTaken" && payload.value.seat?.seat === seat,
    );
    return create(SeatSchema, { seat, name: isNew ? "" : player || name });
  });
  return new Table(create(TableViewSchema, { seats }));
}

/** The texts in their order: each line of chat stands before the first entry that is younger. */
function merged(entries: Entry[], chat: Entry[]): string[] {
  const texts: string[] = [];
  const left = [...chat];
  for (const entry of entries) {
    for (let said = left[0]; said && said.time < entry.time; said = left[0]) {
      texts.push(said.text);
      left.shift();
    }
    texts.push(entry.text);
  }
  return [...texts, ...left.map(({ text }) => text)];
}

function spoken({ time, name, text }: ChatLine): Entry {
  return { time: milliseconds(time), text: `${name}: ${text}` };
}

function milliseconds(time: Timestamp | undefined): number {
  return time ? timestampMs(time) : 0;
}

/** Adds an element at the end, and removes the oldest when there are more than `kept`. */
function append(list: HTMLElement, last: HTMLElement, kept: number): void {
  list.append(last);
  while (list.childElementCount > kept) {
    list.firstElementChild?.remove();
  }
}
