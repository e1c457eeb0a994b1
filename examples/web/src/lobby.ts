// The tables of the server, and opening a new one.

import { type TableOptions, TablePhase, type TableSummary } from "../gen/odin_table/v1/table_pb.js";
import { button, el, redraw } from "./dom.js";
import { rules } from "./help.js";
import { Refusal } from "./refusal.js";
import { call, lobby } from "./server.js";

/** Milliseconds between two looks at the list. */
const LOOK_AGAIN = 3_000;
const NAME = "odin-table.name";

/** Seconds for each turn, and for the whole game after that. */
const CLOCKS: Record<string, { turn: number; bank: number }> = {
  "30 s a turn": { turn: 30, bank: 0 },
  "60 s a turn": { turn: 60, bank: 0 },
  "45 s, and 10 min a game": { turn: 45, bank: 600 },
};

/** Shows the tables until `quit`. `say` tells a person what was refused, `link` how the line is. */
export async function showLobby(
  main: HTMLElement,
  quit: AbortSignal,
  say: (text: unknown) => void,
  link: (state: string) => void,
): Promise<void> {
  const tables = el("ul", { class: "tables", "aria-label": "Tables" });
  redraw(main, el("h1", {}, "Tables"), tables, entering(), opening(say), rules());
  while (!quit.aborted) {
    try {
      const answer = await lobby.listTables({ pageSize: 100 });
      if (!quit.aborted) {
        link("");
        redraw(tables, ...answer.tables.map(row));
        if (answer.tables.length === 0) {
          tables.append(el("li", { class: "quiet" }, "No table is open. Open one below."));
        }
      }
    } catch (failure) {
      if (!quit.aborted) {
        new Refusal(failure).lost ? link("reconnecting …") : say(failure);
      }
    }
    await new Promise((wake) => setTimeout(wake, LOOK_AGAIN));
  }
}

function row({ table, options, phase, seats, deal }: TableSummary): HTMLElement {
  const names = seats.flatMap(({ name }) => (name ? [name] : []));
  const state = phase === TablePhase.WAITING ? "waiting" : deal ? `deal ${deal}` : "over";
  return el(
    "li",
    {},
    el(
      "a",
      { href: `#${table}`, "data-key": table },
      el("strong", {}, options?.title || table),
      el("span", { class: "quiet" }, names.join(", ") || "nobody yet"),
      el("span", {}, `${names.length}/${seats.length} · ${state} · ${terms(options)}`),
    ),
  );
}

/** When a game ends. */
export function terms(options: TableOptions | undefined): string {
  return options?.ending.case === "threshold" ? `to ${options.ending.value}` : "one deal";
}

function entering(): HTMLElement {
  const where = el("input", {
    id: "code",
    maxlength: "16",
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: "false",
  });
  const enter = (event: Event) => {
    event.preventDefault();
    location.hash = where.value.replace(/[^0-9a-z]/gi, "");
  };
  const label = el("label", {}, "Handle, or code of a private table", where);
  return el("form", { submit: enter, class: "line" }, label, el("button", {}, "Enter"));
}

function opening(say: (text: unknown) => void): HTMLElement {
  const seats = choice("seats", "Seats", ["2", "3", "4", "5", "6"], "4");
  const bots = choice("bots", "of them bots", ["0", "1", "2", "3", "4", "5"], "3");
  const ends = choice("ends", "Ends", ["one deal", "at 10", "at 15", "at 20"], "at 15");
  const time = choice("clock", "Clock", ["none", ...Object.keys(CLOCKS)], "none");
  const name = nameField();
  const open = async (event: Event) => {
    event.preventDefault();
    const points = Number(ends.field.value.slice(3));
    const clock = CLOCKS[time.field.value];
    try {
      const { table } = await call((requestId) =>
        lobby.createTable({
          requestId,
          options: {
            seats: Number(seats.field.value),
            ending: points
              ? { case: "threshold", value: points }
              : { case: "singleDeal", value: true },
            ...(clock && { clock: { perTurn: seconds(clock.turn), bank: seconds(clock.bank) } }),
          },
        }),
      );
      await sitDown(table, name.field.value);
      const most = Math.min(Number(bots.field.value), Number(seats.field.value) - 1);
      for (let bot = 0; bot < most; bot++) {
        await call((requestId) => lobby.addBot({ requestId, table }));
      }
      location.hash = table;
    } catch (failure) {
      say(failure);
    }
  };
  return el(
    "form",
    { submit: open, class: "line" },
    el("h2", {}, "A new table"),
    ...[name, seats, bots, ends, time].map(({ label }) => label),
    el("button", { class: "main" }, "Open and sit down"),
  );
}

function seconds(count: number) {
  return { seconds: BigInt(count), nanos: 0 };
}

function choice(id: string, label: string, values: string[], chosen: string) {
  const options = values.map((value) => el("option", { selected: value === chosen }, value));
  const field = el("select", { id }, ...options);
  return { field, label: el("label", {}, label, field) };
}

/** Where a person types a name, which is remembered. */
export function nameField() {
  const known = localStorage.getItem(NAME) ?? "";
  const field = el("input", {
    id: "name",
    value: known,
    maxlength: "24",
    required: true,
    autocomplete: "nickname",
    "data-key": "name",
  });
  return { field, label: el("label", {}, "Your name", field) };
}

/** Takes a seat, and remembers the name. Gives the seat; throws a Refusal. */
export async function sitDown(table: string, name: string, code = ""): Promise<number> {
  const taken = await call((requestId) => lobby.takeSeat({ requestId, table, code, name }));
  localStorage.setItem(NAME, name);
  return taken.seat;
}

/** A form that asks for a name and then sits down. */
export function sitting(sit: (name: string) => void): HTMLElement {
  const name = nameField();
  const submit = (event: Event) => {
    event.preventDefault();
    sit(name.field.value);
  };
  const press = el("button", { class: "main", "data-key": "sit" }, "Sit down");
  return el("form", { submit, class: "line" }, name.label, press);
}

/** A way back to the list. */
export function backToTables(): HTMLElement {
  return button("All tables", () => {
    location.hash = "/";
  });
}
