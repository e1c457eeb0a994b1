// A card by its number in the contract: colour by colour, and 1 to 9 within a colour.

import type { Card } from "../gen/odin_table/v1/card_pb.js";

const COLOURS = ["red", "orange", "yellow", "green", "blue", "violet"] as const;

/** The colour of a card, as a word. */
export function colour(card: Card): string {
  return COLOURS[Math.floor((card - 1) / 9)] ?? "";
}

/** The number of a card, 1 to 9. */
export function number(card: Card): number {
  return ((card - 1) % 9) + 1;
}

/** The letter of its colour, the same in every language. */
export function letter(card: Card): string {
  return colour(card).charAt(0).toUpperCase();
}

/** A card as one writes it, such as R7. */
export function written(card: Card): string {
  return letter(card) + number(card);
}

/** A card as one says it, for screen readers. */
export function spoken(card: Card): string {
  return `${colour(card)} ${number(card)}`;
}

/** Cards in the order of their colours, or of their numbers, high ones first. */
export function sorted(cards: readonly Card[], byNumber: boolean): Card[] {
  const key = byNumber
    ? (card: Card) => -number(card) * 100 + card
    : (card: Card) => Math.floor((card - 1) / 9) * 100 - number(card);
  return cards.toSorted((one, other) => key(one) - key(other));
}
