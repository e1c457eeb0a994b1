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
	// Seat is our own.
	Seat int32
	// Phase is where the table is in its life.
	Phase odintable.TablePhase
	// Ready is whether we have said that we are ready for the game or the next deal.
	Ready bool
	// Decision is the open one, whosever it is, or nil.
	Decision *odintable.Decision
	// Names by seat.
	Names map[int32]string
	// Totals are the penalties of the game so far, in the order of the seats.
	Totals []Total
	// Winners are the seats that won, once the game is over.
	Winners []int32
}

// A Total is the sum of one seat's penalties.
type Total struct {
	Seat  int32 `json:"seat"`
	Total int32 `json:"total"`
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

func (t *Table) restart(view *odintable.TableView) {
	*t = Table{
		Seat:     view.GetYourSeat(),
		Phase:    view.GetPhase(),
		Decision: view.GetDecision(),
		Names:    map[int32]string{},
		Winners:  view.GetGame().GetWinners(),
	}
	for _, seat := range view.GetSeats() {
		t.Names[seat.GetSeat()] = printable(seat.GetName())
		if seat.GetSeat() == t.Seat {
			t.Ready = seat.GetReady()
		}
	}
	for _, player := range view.GetGame().GetPlayers() {
		t.Totals = append(t.Totals, Total{player.GetSeat(), player.GetTotal()})
	}
}

func (t *Table) fold(event *odintable.Event) {
	switch payload := event.GetPayload().(type) {
	case *odintable.Event_SeatTaken:
		seat := payload.SeatTaken.GetSeat()
		t.Names[seat.GetSeat()] = printable(seat.GetName())
	case *odintable.Event_ReadyChanged:
		if payload.ReadyChanged.GetSeat() == t.Seat {
			t.Ready = payload.ReadyChanged.GetReady()
		}
	case *odintable.Event_RematchAsked:
		t.Phase, t.Ready = odintable.TablePhase_TABLE_PHASE_WAITING, false
	case *odintable.Event_GameStarted:
		t.Totals, t.Winners = nil, nil
	case *odintable.Event_DealStarted:
		t.Phase = odintable.TablePhase_TABLE_PHASE_PLAYING
	case *odintable.Event_DecisionOpened:
		t.Decision = payload.DecisionOpened.GetDecision()
	case *odintable.Event_CardsPlayed, *odintable.Event_CardPickedUp, *odintable.Event_Passed:
		t.Decision = nil
	case *odintable.Event_DealEnded:
		t.Phase, t.Ready = odintable.TablePhase_TABLE_PHASE_BETWEEN_DEALS, false
		t.Totals = nil
		for _, score := range payload.DealEnded.GetScores() {
			t.Totals = append(t.Totals, Total{score.GetSeat(), score.GetTotal()})
		}
	case *odintable.Event_GameEnded:
		t.Phase = odintable.TablePhase_TABLE_PHASE_GAME_OVER
		t.Winners = payload.GameEnded.GetWinners()
	case *odintable.Event_TableClosed:
		t.Phase, t.Decision = odintable.TablePhase_TABLE_PHASE_CLOSED, nil
	}
}

// MyDecision is what we have to decide now, or nil.
func (t *Table) MyDecision() *odintable.Decision {
	if t.Decision.GetChoices() == nil || t.Decision.GetSeat() != t.Seat {
		return nil
	}
	return t.Decision
}

// Paused says that the game or the next deal waits for everybody to be ready.
func (t *Table) Paused() bool {
	return t.Phase == odintable.TablePhase_TABLE_PHASE_WAITING ||
		t.Phase == odintable.TablePhase_TABLE_PHASE_BETWEEN_DEALS
}

// Over says that there is nothing left to play.
func (t *Table) Over() bool {
	return t.Phase == odintable.TablePhase_TABLE_PHASE_GAME_OVER ||
		t.Phase == odintable.TablePhase_TABLE_PHASE_CLOSED
}

// Result tells the end of the game in a sentence.
func (t *Table) Result() string {
	if len(t.Winners) == 0 {
		return "The table was closed before the game was over."
	}
	var winners, totals []string
	for _, seat := range t.Winners {
		winners = append(winners, t.Names[seat])
	}
	for _, one := range t.Totals {
		totals = append(totals, fmt.Sprintf("%s %d", t.Names[one.Seat], one.Total))
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
