// What this client does at its table.

import { randomUUID } from "node:crypto";
import type { Action } from "../gen/odin_table/v1/decision_pb.js";
import { ErrorReason } from "../gen/odin_table/v1/error_pb.js";
import { Occupant, type TableView } from "../gen/odin_table/v1/table_pb.js";
import { Refusal, type Server } from "./server.js";

/**
 * Shows a table before we sit down, since the game may start as soon as we do. Undefined when we may
 * not; whatever is wrong then, sitting down will tell.
 */
export async function look(server: Server, table: string): Promise<TableView | undefined> {
  try {
    return (await server.call(server.play.getView, { table })).view;
  } catch (refusal) {
    if (refusal instanceof Refusal) {
      return undefined;
    }
    throw refusal;
  }
}

/** A place at a table of a server. */
export class Seat {
  private constructor(
    readonly server: Server,
    readonly table: string,
  ) {}

  /** Takes the first free seat, as a person or as a bot. */
  static async take(server: Server, table: string, name: string, asPerson: boolean): Promise<Seat> {
    const occupant = asPerson ? Occupant.PERSON : Occupant.REMOTE_BOT;
    const request = { requestId: randomUUID(), table, name, occupant };
    const { seat } = await server.call(server.lobby.takeSeat, request);
    console.error(`${name} sits at table ${table}, seat ${seat}`);
    return new Seat(server, table);
  }

  /**
   * Agrees to the start of the game or of the next deal, and adds a nonce to that deal. Gives the
   * event after which the server has it, or 0 when others have started the deal meanwhile.
   */
  async sayReady(nonce: Uint8Array, commitment: Uint8Array): Promise<number> {
    const request = { ...this.#change(), ready: true, nonce, commitment };
    const answer = await unless(
      this.server.call(this.server.lobby.setReady, request),
      ErrorReason.ALREADY_STARTED,
      ErrorReason.STALE_COMMITMENT,
      ErrorReason.GAME_OVER,
    );
    return answer?.seq ?? 0;
  }

  /** Answers a decision. */
  async act(decisionId: number, action: Action): Promise<void> {
    const request = { ...this.#change(), decisionId, action };
    await unless(
      this.server.call(this.server.play.act, request),
      // The table may have moved on without us: the stream tells how.
      ErrorReason.STALE_DECISION,
      ErrorReason.NOT_YOUR_TURN,
      ErrorReason.NOT_STARTED,
      ErrorReason.GAME_OVER,
    );
  }

  /** Gives the seat back. The table may be gone already. */
  async leave(): Promise<void> {
    await unless(
      this.server.call(this.server.lobby.leaveSeat, this.#change()),
      ErrorReason.GAME_OVER,
      ErrorReason.TABLE_NOT_FOUND,
    );
  }

  /** What every request that changes something begins with: its own name, and the table's. */
  #change(): { requestId: string; table: string } {
    return { requestId: randomUUID(), table: this.table };
  }
}

/** Waits for a call, and shrugs when it is refused for one of the given reasons. */
async function unless<Answer>(
  call: Promise<Answer>,
  ...harmless: ErrorReason[]
): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (refusal) {
    if (refusal instanceof Refusal && harmless.includes(refusal.reason)) {
      return undefined;
    }
    throw refusal;
  }
}
