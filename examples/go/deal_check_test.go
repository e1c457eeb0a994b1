package main

import (
	"errors"
	"testing"

	"example.com/odin-table-go/odintable"
)

var promised = []byte("what the server has committed itself to")

// waiting is a table of two whose game is over: our seat is the first one. By deal/1 without rounds.
func waiting(rounds int32) *odintable.TableView {
	view := &odintable.TableView{
		LogId: "log", Seq: 10, YourSeat: new(int32), Phase: odintable.TablePhase_TABLE_PHASE_GAME_OVER,
		Seats: []*odintable.Seat{{Seat: 0}, {Seat: 1}},
	}
	if rounds == 0 {
		view.Commitment = promised
	} else {
		view.Source = &odintable.DealSource{Commitment: promised, Rounds: rounds}
	}
	return view
}

func events(payloads ...*odintable.Event) *odintable.WatchTableResponse {
	for place, event := range payloads {
		event.Seq = int32(11 + place)
	}
	batch := &odintable.EventBatch{Events: payloads}
	return &odintable.WatchTableResponse{Item: &odintable.WatchTableResponse_Events{Events: batch}}
}

func gameStarted() *odintable.Event {
	started := &odintable.GameStarted{Game: 1, Seats: []int32{0, 1}}
	return &odintable.Event{Payload: &odintable.Event_GameStarted{GameStarted: started}}
}

func isLie(err error) bool {
	var lie *Lie
	return errors.As(err, &lie)
}

func TestTheNonceOfRematchAskedCounts(t *testing.T) {
	asked := &odintable.RematchAsked{Seat: 1, Nonce: []byte("theirs")}
	started := &odintable.DealStarted{Deal: 1, Commitment: promised, Nonces: [][]byte{nil, asked.Nonce}}
	check := NewDealCheck()
	if err := check.restart(waiting(0)); err != nil {
		t.Fatal(err)
	}
	err := check.Apply(events(
		&odintable.Event{Payload: &odintable.Event_RematchAsked{RematchAsked: asked}},
		gameStarted(),
		&odintable.Event{Payload: &odintable.Event_DealStarted{DealStarted: started}},
	))
	if err != nil {
		t.Error(err)
	}
}

func TestANonceThatWentWithTheSeatIsOursOnceItIsShown(t *testing.T) {
	for _, shown := range []bool{true, false} {
		check := NewDealCheck()
		if err := check.restart(waiting(Rounds)); err != nil {
			t.Fatal(err)
		}
		early := check.EarlyOffer()
		view := waiting(Rounds)
		if shown {
			view.Seats[0].Nonce = early.nonce
		}
		if err := check.restart(view); err != nil {
			t.Fatal(err)
		}
		if again := check.EarlyOffer(); (again.nonce == nil) != shown {
			t.Errorf("shown %v, offered again: %x", shown, again.nonce)
		}
		source := &odintable.DealSource{
			Commitment: promised, Rounds: Rounds, KeyRounds: 1, Nonces: [][]byte{nil, nil},
		}
		started := &odintable.DealStarted{Deal: 1, Source: source}
		check.given[0] = nil // as if the server had said so before
		err := check.Apply(events(
			gameStarted(), &odintable.Event{Payload: &odintable.Event_DealStarted{DealStarted: started}},
		))
		if isLie(err) != shown {
			t.Errorf("shown %v, then left out: %v", shown, err)
		}
	}
}
