// What everybody could see, as lines of JSON: the events in protobuf's JSON mapping, then the result.

import { writeSync } from "node:fs";
import { clone, toJson } from "@bufbuild/protobuf";
import { type Event, EventSchema } from "../gen/odin_table/v1/event_pb.js";
import type { WatchTableResponse } from "../gen/odin_table/v1/play_pb.js";
import type { Table } from "./table.js";

export class Journal {
  readonly #file: number;

  /** Writes to a file that is open already. */
  constructor(file: number) {
    this.#file = file;
  }

  /** Writes the public part of the events of an item. */
  note({ item }: WatchTableResponse): void {
    if (item.case === "events") {
      for (const event of item.value.events) {
        this.#write(toJson(EventSchema, publicPart(event)));
      }
    }
  }

  /** Writes the result. */
  close({ winners, totals }: Table): void {
    this.#write({ winners, totals });
  }

  #write(value: unknown): void {
    writeSync(this.#file, `${JSON.stringify(value)}\n`);
  }
}

/** An event without what only our seat may see of it. */
function publicPart(event: Event): Event {
  const copy = clone(EventSchema, event);
  if (copy.payload.case === "dealStarted") {
    delete copy.payload.value.hand;
  } else if (copy.payload.case === "decisionOpened") {
    delete copy.payload.value.decision?.choices;
  }
  return copy;
}
