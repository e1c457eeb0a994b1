// What this client knows of its table: as much as it needs to play and to tell the result.

package main

import (
	"fmt"
	"strings"
	"unicode"

	"example.com/odin-table-go/odintable"
)

// A Table is folded from the items of a stream.
type Table struct {
	Seat     int32               // our own
	Asked    bool                // whether the game or the next deal waits for us to say ready
	Decision *odintable.Decision // the open one, whosever it is, or nil
	Over     bool                // whether there is nothing left to play
	Unseated bool                // whether our seat is gone: the host has removed us, or we were away
	Names    map[int32]string    // by seat
	Scores   []*odintable.DealScore
	Winners  []int32 // the seats that won, once the game is over
}

// Apply takes in what an item says. Unknown items and events are stepped over.
func (t *Table) Apply(item *odintable.WatchTableResponse) {
	if view := item.GetSnapshot(); view != nil {
		t.restart(view)
	}
	for _, event := range item.GetEvents().GetEvents() {
		t.fold(event)
	}
}

// restart forgets everything: a snapshot is all that is true now.
func (t *Table) restart(view *odintable.TableView) {
	*t = Table{
		Seat:     view.GetYourSeat(),
		Decision: view.GetDecision(),
		Names:    map[int32]string{},
		Winners:  view.GetGame().GetWinners(),
		Unseated: view.YourSeat == nil,
	}
	paused := false
	switch view.GetPhase() {
	case odintable.TablePhase_TABLE_PHASE_WAITING, odintable.TablePhase_TABLE_PHASE_BETWEEN_DEALS:
		paused = true
	case odintable.TablePhase_TABLE_PHASE_GAME_OVER, odintable.TablePhase_TABLE_PHASE_CLOSED:
		t.Over = true
	}
	for _, seat := range view.GetSeats() {
		t.Names[seat.GetSeat()] = printable(seat.GetName())
		if seat.GetSeat() == t.Seat {
			t.Asked = paused && !seat.GetReady()
		}
	}
	for _, player := range view.GetGame().GetPlayers() {
		t.Scores = append(t.Scores, &odintable.DealScore{Seat: player.GetSeat(), Total: player.GetTotal()})
	}
}

func (t *Table) fold(event *odintable.Event) {
	switch payload := event.GetPayload().(type) {
	case *odintable.Event_SeatTaken:
		seat := payload.SeatTaken.GetSeat()
		t.Names[seat.GetSeat()] = printable(seat.GetName())
	case *odintable.Event_SeatLeft:
		t.Unseated = t.Unseated || payload.SeatLeft.GetSeat() == t.Seat
	case *odintable.Event_ReadyChanged:
		if payload.ReadyChanged.GetSeat() == t.Seat {
			t.Asked = !payload.ReadyChanged.GetReady()
		}
	case *odintable.Event_SeatResumed:
		if payload.SeatResumed.GetSeat() == t.Seat {
			t.Asked = true // a substitute was ready for us, we are not
		}
	case *odintable.Event_DealStarted:
		t.Asked = false
	case *odintable.Event_DecisionOpened:
		t.Decision = payload.DecisionOpened.GetDecision()
	case *odintable.Event_CardsPlayed, *odintable.Event_CardPickedUp, *odintable.Event_Passed:
		t.Decision = nil
	case *odintable.Event_DealEnded:
		t.Asked = true
		t.Scores = payload.DealEnded.GetScores()
	case *odintable.Event_GameEnded:
		t.Over = true
		t.Winners = payload.GameEnded.GetWinners()
	case *odintable.Event_TableClosed:
		t.Over = true
	}
}

// TakeDecision is what we have to decide now, or nil. It is given once.
func (t *Table) TakeDecision() *odintable.Decision {
	decision := t.Decision
	if decision.GetChoices() == nil || decision.GetSeat() != t.Seat {
		return nil
	}
	t.Decision = nil
	return decision
}

// Result tells how the game ended.
func (t *Table) Result() string {
	var winners, totals []string
	for _, seat := range t.Winners {
		winners = append(winners, t.Names[seat])
	}
	for _, score := range t.Scores {
		totals = append(totals, fmt.Sprintf("%s %d", t.Names[score.GetSeat()], score.GetTotal()))
	}
	return fmt.Sprintf("%s won: %s.", strings.Join(winners, " and "), strings.Join(totals, ", "))
}

// printable is a text from the network without what could take a terminal over.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
