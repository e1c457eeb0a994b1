// How this client plays. Here is the place to put a better idea.

import { create } from "@bufbuild/protobuf";
import type { Card } from "../gen/odin_table/v1/card_pb.js";
import {
  type Action,
  ActionSchema,
  type Choices,
  type Decision,
  DecisionKind,
} from "../gen/odin_table/v1/decision_pb.js";

/**
 * Answers a decision; undefined means whatever the default action is. The server has listed all that
 * is legal, so no rule is needed: this gets rid of as many cards as it can, and takes the
 * lowest one back.
 */
export function choose({ kind, choices }: Decision): Action | undefined {
  if (!choices) {
    return undefined;
  }
  return kind === DecisionKind.PICK_UP ? pickUp(choices) : play(choices);
}

function play({ plays, defaultAction }: Choices): Action | undefined {
  // A set with more cards always has the greater value, and the plays come lowest value first.
  const greatest = plays.at(-1);
  if (!greatest) {
    return defaultAction; // a pass
  }
  // No pick-up is named: when there is a choice, the next decision asks for it.
  return create(ActionSchema, {
    action: { case: "playCards", value: { cards: greatest.cards } },
  });
}

function pickUp({ pickUps }: Choices): Action {
  const card = pickUps.reduce((best, other) => (number(other) < number(best) ? other : best));
  return create(ActionSchema, { action: { case: "pickUp", value: { card } } });
}

/** 1 to 9, as card.proto numbers the cards. */
function number(card: Card): number {
  return ((card - 1) % 9) + 1;
}
