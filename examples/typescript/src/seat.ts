// What this client does at its table.

import { randomUUID } from "node:crypto";
import type { Action } from "../gen/odin_table/v1/decision_pb.js";
import { ErrorReason } from "../gen/odin_table/v1/error_pb.js";
import { Occupant, type TableView } from "../gen/odin_table/v1/table_pb.js";
import type { Offer } from "./promises.js";
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
    readonly asPerson: boolean,
    /** Whether the server takes nonces of seats that are not ready. */
    readonly giveNonce: boolean,
  ) {}

  /**
   * Takes the first free seat, as a person or as a bot. A bot's nonce goes with it, because a table of
   * programs may start at once.
   */
  static async take(
    server: Server,
    table: string,
    name: string,
    asPerson: boolean,
    early: Offer | undefined,
  ): Promise<Seat> {
    const { features } = await server.call(server.lobby.getServerInfo, {});
    const taken = new Seat(server, table, asPerson, features.includes("give_nonce"));
    const occupant = asPerson ? Occupant.PERSON : Occupant.REMOTE_BOT;
    const given =
      early && !asPerson && taken.#mayGive(early)
        ? { nonce: early.nonce, commitment: early.commitment }
        : {};
    const request = { ...taken.#change(), name, occupant, ...given };
    const { seat } = await server.call(server.lobby.takeSeat, request);
    console.error(`${name} sits at table ${table}, seat ${seat}`);
    return taken;
  }

  /** Whether the server takes this nonce while we are not ready. */
  #mayGive({ rounds }: Offer): boolean {
    return this.giveNonce && rounds > 0;
  }

  /**
   * Adds a nonce to the next deal, whoever starts it and when. Gives the event after which the server
   * has it, or 0 when it does not take it. A bot is always ready, so it may say so where that is the
   * only way to give a nonce.
   */
  async give(offer: Offer): Promise<number> {
    if (!this.#mayGive(offer)) {
      return this.asPerson ? 0 : this.sayReady(offer);
    }
    const { nonce, commitment } = offer;
    const answer = await unless(
      this.server.call(this.server.lobby.giveNonce, { ...this.#change(), nonce, commitment }),
      ...TOO_LATE,
      ErrorReason.NOT_ALLOWED, // a substitute plays our seat
    );
    return answer?.seq ?? 0;
  }

  /**
   * Agrees to the start of the game or of the next deal, and adds a nonce to that deal. Gives the
   * event after which the server has it, or 0 when others have started the deal meanwhile.
   */
  async sayReady(offer: Offer | undefined): Promise<number> {
    const given = offer ? { nonce: offer.nonce, commitment: offer.commitment } : {};
    const answer = await unless(
      this.server.call(this.server.lobby.setReady, { ...this.#change(), ready: true, ...given }),
      ...TOO_LATE,
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

/** Why a nonce is refused when the next deal is another one by now. */
const TOO_LATE = [ErrorReason.ALREADY_STARTED, ErrorReason.STALE_COMMITMENT, ErrorReason.GAME_OVER];

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
