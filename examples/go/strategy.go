// How this client plays. Here is the place to put a better idea.

package main

import "example.com/odin-table-go/odintable"

// choose answers a decision. The server has listed all that is legal, so no rule is needed: this
// takes the lowest play that there is and the highest card to pick up, and passes when it must.
func choose(decision *odintable.Decision) *odintable.Action {
	choices := decision.GetChoices()
	switch decision.GetKind() {
	case odintable.DecisionKind_DECISION_KIND_PICK_UP:
		card := highest(choices.GetPickUps())
		return &odintable.Action{Action: &odintable.Action_PickUp{PickUp: &odintable.PickUp{Card: card}}}
	case odintable.DecisionKind_DECISION_KIND_OPEN, odintable.DecisionKind_DECISION_KIND_RESPOND:
		if len(choices.GetPlays()) == 0 {
			break
		}
		lowest := choices.GetPlays()[0]
		play := &odintable.PlayCards{Cards: lowest.GetCards()}
		if !lowest.GetGoesOut() {
			// Named at once, the pick-up needs no decision of its own. None at an opening.
			play.PickUp = highest(choices.GetPickUps())
		}
		return &odintable.Action{Action: &odintable.Action_PlayCards{PlayCards: play}}
	}
	return choices.GetDefaultAction() // a pass, or whatever a decision of a newer kind asks for
}

// highest is the card with the highest number, CARD_UNSPECIFIED if there is none.
func highest(cards []odintable.Card) odintable.Card {
	best := odintable.Card_CARD_UNSPECIFIED
	for _, card := range cards {
		if number(card) > number(best) {
			best = card
		}
	}
	return best
}

// number is 1 to 9, as card.proto numbers the cards; 0 for none.
func number(card odintable.Card) int {
	if card == odintable.Card_CARD_UNSPECIFIED {
		return 0
	}
	return (int(card)-1)%9 + 1
}
