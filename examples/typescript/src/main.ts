#!/usr/bin/env node
// A client for odin-table: lists the tables of a server, or sits down at one and plays a game.

import { randomUUID } from "node:crypto";
import { openSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Action, Decision } from "../gen/odin_table/v1/decision_pb.js";
import { ErrorReason } from "../gen/odin_table/v1/error_pb.js";
import { Occupant, TablePhase } from "../gen/odin_table/v1/table_pb.js";
import { Journal } from "./journal.js";
import { Refusal } from "./refusal.js";
import { Server } from "./server.js";
import { choose } from "./strategy.js";
import { printable, Table } from "./table.js";

const USAGE = `usage: odin-table-typescript HOST:PORT
       odin-table-typescript HOST:PORT --table HANDLE [--name NAME] [--ready] [--events FILE]

Without --table the tables of the server are listed.
--ready   sit down as a person, who says ready before each deal; without it as a bot, which always is
--events  the file to write the public events to; without it standard output`;

/** Reads the command line; leaves the program when it cannot. */
function settings() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        table: { type: "string" },
        name: { type: "string", default: "Tess" },
        ready: { type: "boolean", default: false },
        events: { type: "string" },
      },
    });
    const [address] = positionals;
    if (!address || positionals.length > 1) {
      throw new TypeError("Name one server.");
    }
    return { address, ...values };
  } catch (problem) {
    console.error(`${(problem as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function main(): Promise<void> {
  const { address, table, name, ready, events } = settings();
  const quit = new AbortController();
  process.once("SIGINT", () => quit.abort(new Error("interrupted")));
  process.once("SIGTERM", () => quit.abort(new Error("terminated")));
  const server = new Server(address, quit.signal);
  if (table === undefined) {
    await list(server);
  } else {
    const journal = new Journal(events === undefined ? 1 : openSync(events, "w"));
    await new Player(server, table, ready, journal).play(name);
  }
}

/** Prints the public tables, page by page. */
async function list(server: Server): Promise<void> {
  let pageToken = "";
  do {
    const page = await server.call((options) => server.lobby.listTables({ pageToken }, options));
    for (const { table, phase, seats } of page.tables) {
      const taken = seats.filter(({ occupant }) => occupant !== Occupant.UNSPECIFIED);
      const names = taken.map(({ name }) => printable(name)).join(", ");
      const places = `${taken.length} of ${seats.length} seats`;
      console.log(`${table}  ${TablePhase[phase]?.toLowerCase()}  ${places}  ${names}`);
    }
    pageToken = page.nextPageToken;
  } while (pageToken);
}

/** Plays one game at one table. */
class Player {
  readonly #server: Server;
  readonly #handle: string;
  readonly #asPerson: boolean;
  readonly #journal: Journal;
  readonly #table = new Table();

  constructor(server: Server, handle: string, asPerson: boolean, journal: Journal) {
    this.#server = server;
    this.#handle = handle;
    this.#asPerson = asPerson;
    this.#journal = journal;
  }

  /** Sits down, plays one game to its end and leaves the seat. */
  async play(name: string): Promise<void> {
    const occupant = this.#asPerson ? Occupant.PERSON : Occupant.REMOTE_BOT;
    const wish = { ...this.#change(), name, occupant };
    const { seat } = await this.#server.call((options) =>
      this.#server.lobby.takeSeat(wish, options),
    );
    console.error(`${name} sits at table ${this.#handle}, seat ${seat}`);

    const table = this.#table;
    let answered = 0;
    for await (const item of this.#server.follow(this.#handle)) {
      table.apply(item);
      this.#journal.note(item);
      if (table.over) {
        break;
      }
      if (this.#asPerson && table.paused && !table.ready) {
        table.ready = true;
        await this.#sayReady();
      }
      const decision = table.myDecision;
      if (decision && decision.id !== answered) {
        answered = decision.id;
        await this.#answer(decision);
      }
    }
    if (!table.over) {
      throw new Error("the game was not finished");
    }
    console.error(table.result);
    this.#journal.close(table);
    await this.#leave();
  }

  /** Decides, and acts until something has come of it. */
  async #answer(decision: Decision): Promise<void> {
    const fallback = decision.choices?.defaultAction;
    try {
      await this.#act(decision.id, choose(decision) ?? fallback);
    } catch (refusal) {
      if (!is(refusal, ErrorReason.ILLEGAL_ACTION)) {
        throw refusal;
      }
      console.error(`my strategy broke a rule, taking the default action: ${refusal}`);
      await this.#act(decision.id, fallback);
    }
  }

  async #act(decisionId: number, action: Action | undefined): Promise<void> {
    if (!action) {
      return;
    }
    const request = { ...this.#change(), decisionId, action };
    await unless(
      this.#server.call((options) => this.#server.play.act(request, options)),
      // The table has moved on without us: the stream tells how.
      ErrorReason.STALE_DECISION,
      ErrorReason.NOT_YOUR_TURN,
      ErrorReason.NOT_STARTED,
      ErrorReason.GAME_OVER,
    );
  }

  async #sayReady(): Promise<void> {
    const request = { ...this.#change(), ready: true };
    await unless(
      this.#server.call((options) => this.#server.lobby.setReady(request, options)),
      // Others may have started it meanwhile.
      ErrorReason.ALREADY_STARTED,
      ErrorReason.GAME_OVER,
    );
  }

  async #leave(): Promise<void> {
    const request = this.#change();
    await unless(
      this.#server.call((options) => this.#server.lobby.leaveSeat(request, options)),
      ErrorReason.GAME_OVER,
      ErrorReason.TABLE_NOT_FOUND,
    );
  }

  /** What every request that changes something begins with: its own name, and the table's. */
  #change(): { requestId: string; table: string } {
    return { requestId: randomUUID(), table: this.#handle };
  }
}

/** Waits for a call, and shrugs when it is refused for one of the given reasons. */
async function unless(call: Promise<unknown>, ...harmless: ErrorReason[]): Promise<void> {
  try {
    await call;
  } catch (refusal) {
    if (!is(refusal, ...harmless)) {
      throw refusal;
    }
  }
}

function is(problem: unknown, ...reasons: ErrorReason[]): boolean {
  return problem instanceof Refusal && reasons.includes(problem.reason);
}

try {
  await main();
  process.exit(0); // the idle connection would keep the process for a while
} catch (problem) {
  console.error(`${problem}`);
  process.exit(1);
}
