// How this client plays. Here is the place to put a better idea.

import { create } from "@bufbuild/protobuf";
import type { Card } from "../gen/odin_table/v1/card_pb.js";
import {
  type Action,
  ActionSchema,
  type Decision,
  DecisionKind,
} from "../gen/odin_table/v1/decision_pb.js";

/**
 * Answers a decision; undefined leaves it to the clock. The server has listed all that is legal, so
 * no rule is needed: this gets rid of as many cards as it can, and takes the lowest one back.
 */
export function choose({ kind, choices }: Decision): Action | undefined {
  if (kind === DecisionKind.PICK_UP) {
    const [card] = choices?.pickUps.toSorted((one, other) => number(one) - number(other)) ?? [];
    return card ? create(ActionSchema, { action: { case: "pickUp", value: { card } } }) : undefined;
  }
  // A set with more cards always has the greater value, and the plays come lowest value first.
  const greatest = choices?.plays.at(-1);
  if (greatest && (kind === DecisionKind.OPEN || kind === DecisionKind.RESPOND)) {
    // No pick-up is named: when there is a choice, the next decision asks for it.
    const { cards } = greatest;
    return create(ActionSchema, { action: { case: "playCards", value: { cards } } });
  }
  return choices?.defaultAction; // a pass, or whatever a decision of a newer kind asks for
}

/** 1 to 9, as card.proto numbers the cards. */
function number(card: Card): number {
  return ((card - 1) % 9) + 1;
}
