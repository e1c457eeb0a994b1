// What this client does at its table.

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log"
	"slices"

	"example.com/odin-table-go/odintable"
)

// A Seat is a place at a table of a server.
type Seat struct {
	server *Server
	table  string
}

// look shows a table before we sit down, since the game may start as soon as we do. Nil when we may
// not; whatever is wrong then, sitting down will tell.
func (s *Server) look(ctx context.Context, table string) *odintable.TableView {
	answer, err := s.Play.GetView(ctx, &odintable.GetViewRequest{Table: table})
	if err != nil {
		return nil
	}
	return answer.GetView()
}

// sitDown takes the first free seat, as a person or as a bot.
func (s *Server) sitDown(ctx context.Context, table, name string, asPerson bool) (*Seat, error) {
	request := &odintable.TakeSeatRequest{
		RequestId: newRequestID(), Table: table, Name: name,
		Occupant: odintable.Occupant_OCCUPANT_REMOTE_BOT,
	}
	if asPerson {
		request.Occupant = odintable.Occupant_OCCUPANT_PERSON
	}
	answer, err := s.Lobby.TakeSeat(ctx, request)
	if err != nil {
		return nil, err
	}
	log.Printf("%s sits at table %s, seat %d", name, table, answer.GetSeat())
	return &Seat{s, table}, nil
}

// sayReady agrees to the start of the game or of the next deal, and adds a nonce to that deal. It
// returns the event after which the server has it, or 0 when others have started the deal meanwhile.
func (s *Seat) sayReady(ctx context.Context, nonce, commitment []byte) (int32, error) {
	answer, err := s.server.Lobby.SetReady(ctx, &odintable.SetReadyRequest{
		RequestId: newRequestID(), Table: s.table, Ready: true, Nonce: nonce, Commitment: commitment,
	})
	return answer.GetSeq(), unless(err,
		odintable.ErrorReason_ERROR_REASON_ALREADY_STARTED,
		odintable.ErrorReason_ERROR_REASON_STALE_COMMITMENT,
		odintable.ErrorReason_ERROR_REASON_GAME_OVER)
}

// act answers a decision.
func (s *Seat) act(ctx context.Context, decision *odintable.Decision, action *odintable.Action) error {
	_, err := s.server.Play.Act(ctx, &odintable.ActRequest{
		RequestId: newRequestID(), Table: s.table, DecisionId: decision.GetId(), Action: action,
	})
	// The table may have moved on without us: the stream tells how.
	return unless(err,
		odintable.ErrorReason_ERROR_REASON_STALE_DECISION,
		odintable.ErrorReason_ERROR_REASON_NOT_YOUR_TURN,
		odintable.ErrorReason_ERROR_REASON_NOT_STARTED,
		odintable.ErrorReason_ERROR_REASON_GAME_OVER)
}

// leave gives the seat back. The table may be gone already.
func (s *Seat) leave(ctx context.Context) error {
	_, err := s.server.Lobby.LeaveSeat(ctx, &odintable.LeaveSeatRequest{RequestId: newRequestID(), Table: s.table})
	return unless(err, odintable.ErrorReason_ERROR_REASON_GAME_OVER, odintable.ErrorReason_ERROR_REASON_TABLE_NOT_FOUND)
}

// newRequestID names one request: whatever changes something carries one, and repeats it.
func newRequestID() string {
	return rand.Text()
}

// unless is the error, but nil for a refusal with one of the given reasons.
func unless(err error, harmless ...odintable.ErrorReason) error {
	var refusal *Refusal
	if errors.As(err, &refusal) && slices.Contains(harmless, refusal.Reason) {
		return nil
	}
	return err
}
