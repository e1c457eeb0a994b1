// Checking each deal: it has to follow from what was promised. docs/fair-deal.md says what that proves.

package main

import (
	"bytes"
	"fmt"
	"log"
	"slices"

	"example.com/odin-table-go/odintable"
)

// A DealCheck compares what the server says of the deals with what it has promised.
type DealCheck struct {
	// NotInFull counts the deals that could not be checked in full.
	NotInFull int

	promises  promises
	log       string
	game      int32
	seat      int32
	seats     []int32
	shortDeck bool // whether two colours leave when two play
	removed   []odintable.Colour
	given     map[int32][]byte // what each seat adds to the next deal
	people    map[int32]bool   // the seats that persons hold
	open      *promise         // the deal that waits for nonces, or nil
	deal      *promise         // the one that is being played, or nil
	over      bool             // whether its cards are played, and its secret is due
	// dealt counts the cards that each seat must have been dealt: those it played and those that it
	// has left, without those it picked up. Nil when we did not see all of the deal.
	dealt map[int32]map[odintable.Card]int
}

// NewDealCheck has been promised nothing yet.
func NewDealCheck() *DealCheck {
	return &DealCheck{promises: promises{}}
}

// Offer is what we add to the next deal when we say that we are ready. Nothing when no deal waits for
// nonces.
func (c *DealCheck) Offer() offer {
	if c.open == nil {
		return offer{}
	}
	return c.open.offer(false)
}

// EarlyOffer is what we add to the next deal as soon as it waits for nonces, so that it is in there
// whoever starts it and when. Nothing when we have added something, or tried to.
func (c *DealCheck) EarlyOffer() offer {
	if c.open == nil || c.open.offered || c.open.taken != nil {
		return offer{}
	}
	return c.open.offer(true)
}

// Taken notes that the server has what we added, and since which event; 0 when it has not.
func (c *DealCheck) Taken(offer offer, seq int32) {
	if c.open == nil {
		return
	}
	c.open.offered = true
	if seq > 0 && len(offer.nonce) > 0 {
		c.open.taken, c.open.takenAt = offer.nonce, seq
	}
}

// Apply takes in what an item says, and returns a Lie as soon as one shows.
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

// restart takes in a snapshot, and compares it with the promises.
func (c *DealCheck) restart(view *odintable.TableView) error {
	game := view.GetGame()
	c.log, c.seat, c.game = view.GetLogId(), view.GetYourSeat(), game.GetGame()
	c.shortDeck, c.removed = view.GetOptions().GetShortDeck(), game.GetRemovedColours()
	c.seats, c.given, c.people = nil, map[int32][]byte{}, map[int32]bool{}
	for _, player := range game.GetPlayers() {
		c.seats = append(c.seats, player.GetSeat())
	}
	for _, seat := range view.GetSeats() {
		c.given[seat.GetSeat()] = seat.GetNonce()
		c.people[seat.GetSeat()] = seat.GetOccupant() == odintable.Occupant_OCCUPANT_PERSON
	}
	shown := dealKey{c.game, game.GetDeal()}
	if c.deal != nil && c.deal.key != shown {
		c.notInFull("we have not seen its end")
	}
	playing := view.GetPhase() == odintable.TablePhase_TABLE_PHASE_PLAYING
	c.open = nil
	if commitment, _ := promisedIn(view); !playing && len(commitment) > 0 {
		next := dealKey{c.game + 1, 1}
		if view.GetPhase() == odintable.TablePhase_TABLE_PHASE_BETWEEN_DEALS {
			next = dealKey{c.game, game.GetDeal() + 1}
		}
		if err := c.commit(next, view); err != nil {
			return err
		}
		if view.GetSeq() >= c.open.takenAt { // an older one may have been on its way
			if err := c.open.mustBeOurs(c.given[c.seat]); err != nil {
				return err
			}
		}
	}
	if shown.deal == 0 {
		return nil
	}
	return c.join(shown, view, playing)
}

// commit notes a commitment to a deal of which no card has been dealt.
func (c *DealCheck) commit(key dealKey, message sourced) error {
	promise, err := c.promises.note(key, c.log, message)
	if err == nil && promise.terms != nil {
		err = promise.lie("it is dealt a second time")
	}
	c.open = promise
	return err
}

// join takes in a deal as a snapshot shows it: at its start, in the middle or at its end.
func (c *DealCheck) join(key dealKey, view *odintable.TableView, playing bool) error {
	game := view.GetGame()
	known := c.promises[key]
	deal, err := c.promises.note(key, c.log, game)
	if err != nil {
		return err
	}
	if known == nil {
		deal.gap = "we came when it had started"
		deal.told = !playing // over before we came
	}
	if deal.told {
		return nil
	}
	rounds := game.GetSource().GetKeyRounds()
	begun := terms{c.seats, noncesIn(game), game.GetOpener(), c.removed, rounds}
	if few := KeyRounds(deal.rounds, deal.taken != nil && c.people[c.seat]); rounds != deal.rounds && rounds != few {
		return deal.lie("its key was stretched less than it had to be")
	}
	untouched := len(game.GetCentre())+len(game.GetDiscarded())+len(game.GetRemainingHands()) == 0
	switch {
	case deal.terms == nil && untouched:
		deal.hand = game.GetHand().GetCards()
		err = c.begin(deal, begun)
	case deal.terms == nil:
		err = c.begin(deal, begun)
		c.miss(deal)
	case !deal.terms.equal(begun):
		err = deal.lie("it did not start from that")
	case deal.seen != view.GetSeq():
		c.miss(deal)
	}
	if err != nil {
		return err
	}
	c.deal, deal.seen = deal, view.GetSeq()
	switch {
	case playing:
		return nil
	case len(game.GetRemainingHands()) == 0:
		c.notInFull("the table was closed before its end")
		return nil
	}
	return c.reveal(game.GetSecret())
}

// miss notes that whose each card was is not known.
func (c *DealCheck) miss(deal *promise) {
	deal.gap, c.dealt = "we have not seen all of it", nil
}

func (c *DealCheck) fold(event *odintable.Event) error {
	if c.deal != nil {
		c.deal.seen = event.GetSeq()
	}
	if err := c.unrevealed(event); err != nil {
		return err
	}
	switch payload := event.GetPayload().(type) {
	case *odintable.Event_DealCommitted:
		c.given = map[int32][]byte{}
		committed := payload.DealCommitted
		return c.commit(dealKey{committed.GetGame(), committed.GetDeal()}, committed)
	case *odintable.Event_ReadyChanged:
		if c.open == nil || c.open.rounds == 0 { // by deal/2 it says nothing of nonces
			ready := payload.ReadyChanged
			return c.give(ready.GetSeat(), ready.GetNonce(), event) // we never say that we are not ready
		}
	case *odintable.Event_RematchAsked:
		if c.open == nil || c.open.rounds == 0 {
			return c.give(payload.RematchAsked.GetSeat(), payload.RematchAsked.GetNonce(), event)
		}
	case *odintable.Event_NonceGiven:
		return c.give(payload.NonceGiven.GetSeat(), payload.NonceGiven.GetNonce(), event)
	case *odintable.Event_SeatTaken:
		seat := payload.SeatTaken.GetSeat()
		c.people[seat.GetSeat()] = seat.GetOccupant() == odintable.Occupant_OCCUPANT_PERSON
	case *odintable.Event_SubstituteSeated:
		c.void(payload.SubstituteSeated.GetSeat())
	case *odintable.Event_SeatLeft:
		c.void(payload.SeatLeft.GetSeat())
	case *odintable.Event_GameStarted:
		game := payload.GameStarted
		c.game, c.seats, c.removed = game.GetGame(), game.GetSeats(), game.GetRemovedColours()
	case *odintable.Event_DealStarted:
		return c.start(payload.DealStarted, event.GetSeq())
	case *odintable.Event_CardsPlayed:
		c.count(payload.CardsPlayed.GetSeat(), 1, payload.CardsPlayed.GetCards()...)
	case *odintable.Event_CardPickedUp:
		c.count(payload.CardPickedUp.GetSeat(), -1, payload.CardPickedUp.GetCard())
	case *odintable.Event_DealEnded:
		for _, score := range payload.DealEnded.GetScores() {
			c.count(score.GetSeat(), 1, score.GetRemaining()...)
		}
		c.over = true
		if c.deal != nil && len(c.deal.commitment) == 0 {
			c.notInFull("the server committed itself to nothing")
		}
	case *odintable.Event_DealRevealed:
		if c.deal != nil {
			return c.reveal(payload.DealRevealed.GetSecret())
		}
	case *odintable.Event_StretchedDealRevealed:
		if c.deal != nil {
			return c.reveal(payload.StretchedDealRevealed.GetSecret())
		}
	case *odintable.Event_TableClosed:
		if c.deal != nil {
			c.notInFull("the table was closed before its end")
		}
	}
	return nil
}

// give notes what a seat adds to the next deal.
func (c *DealCheck) give(seat int32, nonce []byte, event *odintable.Event) error {
	c.given[seat] = nonce
	if seat == c.seat && c.open != nil && event.GetSeq() >= c.open.takenAt {
		return c.open.mustBeOurs(nonce)
	}
	return nil
}

// void notes that a seat does not add to the next deal after all.
func (c *DealCheck) void(seat int32) {
	delete(c.given, seat)
	if seat == c.seat && c.open != nil && c.open.taken != nil {
		c.open.taken, c.open.offered = nil, false
		c.open.gap = "the server says that we were away, so that our nonce is void"
	}
}

// start takes in what the server says that a deal follows from.
func (c *DealCheck) start(deal *odintable.DealStarted, seq int32) error {
	key := dealKey{c.game, deal.GetDeal()}
	before := c.promises[key]
	promise, err := c.promises.note(key, c.log, deal)
	switch {
	case err != nil:
		return err
	case before == nil && len(promise.commitment) > 0:
		return promise.lie("it follows from another commitment than the one before the nonces")
	case promise.terms != nil:
		return promise.lie("it is dealt a second time")
	}
	hasPerson := slices.ContainsFunc(c.seats, func(seat int32) bool { return c.people[seat] })
	rounds := deal.GetSource().GetKeyRounds()
	if rounds != KeyRounds(promise.rounds, hasPerson) {
		return promise.lie("its key was stretched less than it had to be")
	}
	if hasPerson && rounds < Rounds {
		log.Printf("deal %d: WARNING: its key is hardly stretched: a server could search for a deck", key.deal)
	}
	for player, nonce := range noncesIn(deal) {
		if player < len(c.seats) && !bytes.Equal(nonce, c.given[c.seats[player]]) {
			return promise.lie(fmt.Sprintf("seat %d gave another nonce", c.seats[player]))
		}
	}
	promise.hand, promise.seen = deal.GetHand().GetCards(), seq
	c.open, c.deal = nil, promise
	return c.begin(promise, terms{c.seats, noncesIn(deal), deal.GetOpener(), c.removed, rounds})
}

// begin notes what a deal starts from. Our own nonce has to be in it.
func (c *DealCheck) begin(deal *promise, begun terms) error {
	deal.terms, c.over, c.dealt = &begun, false, map[int32]map[odintable.Card]int{}
	if before := c.promises[dealKey{c.game, deal.key.deal - 1}]; before != nil && before.terms != nil &&
		before.log == deal.log && !slices.Equal(before.terms.Removed, begun.Removed) {
		return deal.lie("other colours have left than before")
	}
	if len(deal.commitment) == 0 {
		return nil
	}
	if len(begun.Nonces) != len(begun.Seats) {
		return deal.lie("it follows from too few nonces, or too many")
	}
	for player, seat := range begun.Seats {
		c.dealt[seat] = map[odintable.Card]int{}
		if len(begun.Nonces[player]) > 32 {
			return deal.lie(fmt.Sprintf("seat %d gave another nonce", seat))
		}
		if seat == c.seat {
			if err := deal.mustBeOurs(begun.Nonces[player]); err != nil {
				return err
			}
		}
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
func (c *DealCheck) reveal(secret []byte) error {
	deal, begun := c.deal, c.deal.terms
	if !bytes.Equal(Commitment(secret, deal.rounds), deal.commitment) {
		return deal.lie("the secret is not what the server committed itself to")
	}
	if begun.Rounds > MaxRounds {
		c.notInFull("its key has more rounds than we compute")
		return nil
	}
	var order []odintable.Card
	if deal.key.deal == 1 {
		short := c.shortDeck && len(begun.Seats) == 2
		opener, removed, drawn := DrawFirst(secret, begun.Nonces, short, begun.Rounds)
		if begun.Seats[opener] != begun.Opener || !slices.Equal(removed, begun.Removed) {
			return deal.lie("another seat had to open it, or other colours had to leave")
		}
		order = drawn
	} else {
		order = DrawDeal(secret, begun.Nonces, deal.key.deal, begun.Removed, begun.Rounds)
	}
	for player, seat := range begun.Seats {
		hand := slices.Sorted(slices.Values(order[9*player : 9*player+9]))
		c.count(seat, -1, hand...)
		ours := seat == c.seat && deal.hand != nil
		if len(c.dealt[seat]) > 0 || ours && !slices.Equal(hand, deal.hand) {
			return deal.lie(fmt.Sprintf("seat %d had to get other cards", seat))
		}
	}
	if deal.gap != "" {
		c.notInFull(deal.gap)
		return nil
	}
	log.Printf("deal %d: checked, word %s", deal.key.deal, Word(deal.commitment, begun.Seats, begun.Nonces))
	c.deal, deal.told = nil, true
	return nil
}

// unrevealed complains of a deal that is over without its secret. Events that we do not know may come
// between.
func (c *DealCheck) unrevealed(event *odintable.Event) error {
	if c.deal == nil || !c.over && event.GetDealStarted() == nil ||
		event.GetDealRevealed() != nil || event.GetStretchedDealRevealed() != nil || event.GetPayload() == nil {
		return nil
	}
	return c.deal.lie("the server committed itself to it and never revealed it")
}

// notInFull says aloud that a deal could not be checked in full.
func (c *DealCheck) notInFull(reason string) {
	if c.deal.gap != "" {
		reason = c.deal.gap
	}
	c.NotInFull++
	log.Printf("deal %d: NOT CHECKED IN FULL: %s", c.deal.key.deal, reason)
	c.deal.told, c.deal = true, nil
}
