// Building a play out of single cards. What is allowed is in the decision; no rule lives here.

import type { Card } from "../gen/odin_table/v1/card_pb.js";
import type { Choices, LegalPlay } from "../gen/odin_table/v1/decision_pb.js";
import { number, written } from "./cards.js";

export class Selection {
  /** The cards that are chosen. */
  cards: readonly Card[] = [];
  /** The card of the centre that is taken, once it is chosen. */
  take: Card | undefined;

  clear(): void {
    this.cards = [];
    this.take = undefined;
  }

  /** Puts a card in or out. One that fits to no play together with the others starts anew. */
  toggle(card: Card, { plays }: Choices): void {
    if (this.cards.includes(card)) {
      this.cards = this.cards.filter((one) => one !== card);
    } else {
      const more = [...this.cards, card];
      this.cards = plays.some((play) => within(more, play)) ? more : [card];
    }
  }

  /** Adds the next card of this number in the hand, one that fits if there is one. */
  type(digit: number, hand: readonly Card[], choices: Choices): void {
    const left = hand.filter((card) => number(card) === digit && !this.cards.includes(card));
    const fits = (card: Card) => choices.plays.some((play) => within([...this.cards, card], play));
    const card = left.find(fits) ?? left[0];
    if (card !== undefined) {
      this.toggle(card, choices);
    }
  }

  /** Goes on to the next play that is allowed, from the lowest. */
  next({ plays }: Choices): void {
    const at = plays.findIndex((play) => this.is(play));
    this.cards = plays[(at + 1) % plays.length]?.cards ?? [];
  }

  /** Whether these are the cards of a play. */
  is(play: LegalPlay): boolean {
    return play.cards.length === this.cards.length && within(this.cards, play);
  }

  /** The play that the cards make, if it is allowed. */
  play(choices: Choices): LegalPlay | undefined {
    return choices.plays.find((play) => this.is(play));
  }

  /** Why the chosen cards are no play. */
  problem(choices: Choices): string {
    if (this.cards.length === 0) {
      return choices.plays.length > 0 ? "Choose cards" : "You have no play";
    }
    const more = choices.plays.filter((play) => within(this.cards, play));
    return more.length > 0
      ? `One more card: ${more.map(({ value }) => value).join(", ")}`
      : `${this.cards.map(written).join(" ")} cannot be played now`;
  }
}

function within(cards: readonly Card[], play: LegalPlay): boolean {
  return cards.every((card) => play.cards.includes(card));
}
