#!/usr/bin/env node
// A client for odin-table: lists the tables of a server, or sits down at one and plays a game.

import { openSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { toJsonString } from "@bufbuild/protobuf";
import { EventSchema } from "../gen/odin_table/v1/event_pb.js";
import type { WatchTableResponse } from "../gen/odin_table/v1/play_pb.js";
import { Occupant, TablePhase } from "../gen/odin_table/v1/table_pb.js";
import { DealCheck } from "./deal-check.js";
import { follow } from "./follow.js";
import { Lie } from "./promises.js";
import { look, Seat } from "./seat.js";
import { Server } from "./server.js";
import { choose } from "./strategy.js";
import { printable, Table } from "./table.js";

const USAGE = `usage: odin-table-typescript HOST:PORT
       odin-table-typescript HOST:PORT --table HANDLE [--name NAME] [--ready] [--events FILE]
                             [--credential FILE]

Without --table the tables of the server are listed.
--ready   sit down as a person, who says ready before each deal; without it as a bot, which always is
--events  the file to write the events to; without it standard output
--credential  the file to keep the credential in: with it a client that is started again has its seat
              back`;

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
        credential: { type: "string" },
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
  const { address, table, name, ready, events, credential } = settings();
  const quit = new AbortController();
  process.once("SIGINT", () => quit.abort(new Error("interrupted")));
  process.once("SIGTERM", () => quit.abort(new Error("terminated")));
  const server = new Server(address, quit.signal, credential);
  if (table === undefined) {
    await list(server);
  } else {
    const out = events === undefined ? process.stdout.fd : openSync(events, "w");
    const check = new DealCheck();
    const view = await look(server, table);
    if (view) {
      check.restart(view);
    }
    const seat = await Seat.take(server, table, name, ready, check.earlyOffer);
    await play(seat, check, out);
  }
}

/** Prints the public tables, page by page. */
async function list(server: Server): Promise<void> {
  let pageToken = "";
  do {
    const page = await server.call(server.lobby.listTables, { pageToken });
    for (const { table, phase, seats } of page.tables) {
      const taken = seats.filter(({ occupant }) => occupant !== Occupant.UNSPECIFIED);
      const names = taken.map(({ name }) => printable(name)).join(", ");
      const places = `${taken.length} of ${seats.length} seats`;
      const word = String(TablePhase[phase] ?? phase).toLowerCase();
      console.log(`${table}  ${word}  ${places}  ${names}`);
    }
    pageToken = page.nextPageToken;
  } while (pageToken);
}

/** Plays one game to its end and leaves the seat. */
async function play(seat: Seat, check: DealCheck, out: number): Promise<void> {
  const table = new Table();
  for await (const item of follow(seat.server, seat.table)) {
    table.apply(item);
    record(item, out);
    check.apply(item);
    if (table.over) {
      break;
    }
    if (table.unseated) {
      throw new Error("our seat is gone: the host has removed us, or we were away for too long");
    }
    if (seat.asPerson && table.asked) {
      table.asked = false;
      const { offer } = check;
      check.taken(offer, await seat.sayReady(offer));
    } else if (check.earlyOffer) {
      const offer = check.earlyOffer;
      check.taken(offer, await seat.give(offer));
    }
    const decision = table.takeDecision();
    const action = decision && choose(decision);
    if (action) {
      await seat.act(decision.id, action);
    }
  }
  if (table.winners.length === 0) {
    throw new Error("the table was closed before the game was over");
  }
  console.error(table.result);
  await seat.leave();
  if (check.notInFull > 0) {
    throw new NotInFull("not every deal could be checked in full");
  }
}

class NotInFull extends Error {}

/** 9 after a lie, 8 when a deal was not checked in full, 1 after anything else. */
function exitCode(problem: unknown): number {
  if (problem instanceof Lie) {
    return 9;
  }
  return problem instanceof NotInFull ? 8 : 1;
}

/** Writes the events of an item as lines of JSON, as this seat sees them. */
function record({ item }: WatchTableResponse, out: number): void {
  if (item.case === "events") {
    for (const event of item.value.events) {
      writeSync(out, `${toJsonString(EventSchema, event)}\n`);
    }
  }
}

try {
  await main();
  process.exit(0); // the idle connection would keep the process for a while
} catch (problem) {
  console.error((problem as Error).message);
  process.exit(exitCode(problem));
}
