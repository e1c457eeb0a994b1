// Checking each deal once its secret is revealed. docs/fair-deal.md says what that proves.

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"slices"

	"example.com/odin-table-go/odintable"
)

// A DealCheck remembers of a deal what has to follow from its secret.
type DealCheck struct {
	// Commitment is the open one, which a nonce has to name; empty when no deal waits for nonces.
	Commitment []byte

	seat      int32
	seats     []int32
	shortDeck bool // whether two colours leave when two play
	removed   []odintable.Colour
	made      []byte           // our nonce for the open commitment
	given     map[int32][]byte // what each seat adds to the next deal
	// deal is the one under way, or nil: we have not seen it dealt, or it cannot be checked.
	deal *odintable.DealStarted
	// dealt counts the cards that each seat must have been dealt: those it played and those that it
	// has left, without those it picked up.
	dealt map[int32]map[odintable.Card]int
}

// Nonce is what we add to the next deal, so that the server does not choose the cards alone.
func (c *DealCheck) Nonce() []byte {
	if c.made == nil && len(c.Commitment) > 0 {
		c.made = make([]byte, 32)
		rand.Read(c.made) // never fails
	}
	return c.made
}

// Apply takes in what an item says, and returns an error when a deal was not dealt as it had to be.
func (c *DealCheck) Apply(item *odintable.WatchTableResponse) error {
	if view := item.GetSnapshot(); view != nil {
		if err := c.restart(view); err != nil {
			return err
		}
	}
	for _, event := range item.GetEvents().GetEvents() {
		if err := c.fold(event); err != nil {
			return err
		}
	}
	return nil
}

func (c *DealCheck) restart(view *odintable.TableView) error {
	if !bytes.Equal(view.GetCommitment(), c.Commitment) {
		c.made = nil
	}
	c.Commitment, c.seat, c.deal = view.GetCommitment(), view.GetYourSeat(), nil
	c.seats, c.given = nil, map[int32][]byte{}
	c.shortDeck, c.removed = view.GetOptions().GetShortDeck(), view.GetGame().GetRemovedColours()
	for _, player := range view.GetGame().GetPlayers() {
		c.seats = append(c.seats, player.GetSeat())
	}
	given := false // whether our nonce has to be there
	for _, seat := range view.GetSeats() {
		c.given[seat.GetSeat()] = seat.GetNonce()
		given = given || seat.GetSeat() == c.seat && seat.GetReady() && !seat.GetSubstituted()
	}
	if given && len(c.Commitment) > 0 {
		return c.isOurs(c.given[c.seat])
	}
	return nil
}

// isOurs complains of a nonce that the server takes for ours and that is not.
func (c *DealCheck) isOurs(nonce []byte) error {
	if !bytes.Equal(nonce, c.made) {
		return errors.New("the server exchanged our nonce for the next deal")
	}
	return nil
}

func (c *DealCheck) fold(event *odintable.Event) error {
	switch payload := event.GetPayload().(type) {
	case *odintable.Event_DealCommitted:
		c.Commitment = payload.DealCommitted.GetCommitment()
		c.made, c.given = nil, map[int32][]byte{}
	case *odintable.Event_ReadyChanged:
		ready := payload.ReadyChanged
		c.given[ready.GetSeat()] = ready.GetNonce()
		if ready.GetSeat() == c.seat && ready.GetReady() {
			return c.isOurs(ready.GetNonce())
		}
	case *odintable.Event_SubstituteSeated:
		delete(c.given, payload.SubstituteSeated.GetSeat())
	case *odintable.Event_SeatLeft:
		delete(c.given, payload.SeatLeft.GetSeat())
	case *odintable.Event_GameStarted:
		c.seats, c.removed = payload.GameStarted.GetSeats(), payload.GameStarted.GetRemovedColours()
	case *odintable.Event_DealStarted:
		return c.start(payload.DealStarted)
	case *odintable.Event_CardsPlayed:
		c.count(payload.CardsPlayed.GetSeat(), 1, payload.CardsPlayed.GetCards()...)
	case *odintable.Event_CardPickedUp:
		c.count(payload.CardPickedUp.GetSeat(), -1, payload.CardPickedUp.GetCard())
	case *odintable.Event_DealEnded:
		for _, score := range payload.DealEnded.GetScores() {
			c.count(score.GetSeat(), 1, score.GetRemaining()...)
		}
	case *odintable.Event_DealRevealed:
		return c.reveal(payload.DealRevealed)
	case *odintable.Event_GameEnded, *odintable.Event_TableClosed:
		return c.unrevealed()
	}
	return nil
}

// start looks at what the server says that the deal follows from.
func (c *DealCheck) start(deal *odintable.DealStarted) error {
	if err := c.unrevealed(); err != nil {
		return err
	}
	if len(deal.GetCommitment()) == 0 {
		log.Printf("deal %d: cannot be checked, since the server committed itself to nothing", deal.GetDeal())
		return nil
	}
	if !bytes.Equal(deal.GetCommitment(), c.Commitment) {
		return fault(deal, "it follows from another commitment than the one before the nonces")
	}
	if len(deal.GetNonces()) != len(c.seats) {
		return fault(deal, "it follows from too few nonces, or too many")
	}
	for player, nonce := range deal.GetNonces() {
		if seat := c.seats[player]; len(nonce) > 32 || !bytes.Equal(nonce, c.given[seat]) {
			return fault(deal, fmt.Sprintf("seat %d gave another nonce", seat))
		}
	}
	c.Commitment = nil
	c.deal, c.dealt = deal, map[int32]map[odintable.Card]int{}
	for _, seat := range c.seats {
		c.dealt[seat] = map[odintable.Card]int{}
	}
	return nil
}

func (c *DealCheck) count(seat int32, change int, cards ...odintable.Card) {
	if counts, known := c.dealt[seat]; known {
		for _, card := range cards {
			if counts[card] += change; counts[card] == 0 {
				delete(counts, card)
			}
		}
	}
}

// reveal works the deal out again, and compares.
func (c *DealCheck) reveal(revealed *odintable.DealRevealed) error {
	deal, secret := c.deal, revealed.GetSecret()
	c.deal = nil
	if deal == nil {
		log.Printf("deal %d: not checked, since we did not see it dealt", revealed.GetDeal())
		return nil
	}
	if !bytes.Equal(Commitment(secret), deal.GetCommitment()) {
		return fault(deal, "the secret is not what the server committed itself to")
	}
	var order []odintable.Card
	if deal.GetDeal() == 1 {
		var opener int
		var removed []odintable.Colour
		opener, removed, order = DrawFirst(secret, deal.GetNonces(), c.shortDeck && len(c.seats) == 2)
		if c.seats[opener] != deal.GetOpener() || !slices.Equal(removed, c.removed) {
			return fault(deal, "another seat had to open it, or other colours had to leave")
		}
	} else {
		order = DrawDeal(secret, deal.GetNonces(), deal.GetDeal(), c.removed)
	}
	for player, seat := range c.seats {
		hand := slices.Sorted(slices.Values(order[9*player : 9*player+9]))
		c.count(seat, -1, hand...)
		ours := seat == c.seat
		if len(c.dealt[seat]) > 0 || ours && !slices.Equal(hand, deal.GetHand().GetCards()) {
			return fault(deal, fmt.Sprintf("seat %d had to get other cards", seat))
		}
	}
	log.Printf("deal %d: checked", deal.GetDeal())
	return nil
}

// unrevealed complains of a deal that is over without its secret.
func (c *DealCheck) unrevealed() error {
	if c.deal != nil {
		return fault(c.deal, "the server committed itself to it and never revealed it")
	}
	return nil
}

func fault(deal *odintable.DealStarted, problem string) error {
	return fmt.Errorf("deal %d: %s", deal.GetDeal(), problem)
}
