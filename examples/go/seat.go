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
	server    *Server
	table     string
	asPerson  bool
	giveNonce bool // whether the server takes nonces of seats that are not ready
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

// sitDown takes the first free seat, as a person or as a bot. A bot's nonce goes with it, because a
// table of programs may start at once.
func (s *Server) sitDown(ctx context.Context, table, name string, asPerson bool, early offer) (*Seat, error) {
	info, err := s.Lobby.GetServerInfo(ctx, &odintable.GetServerInfoRequest{})
	if err != nil {
		return nil, err
	}
	seat := &Seat{s, table, asPerson, slices.Contains(info.GetFeatures(), "give_nonce")}
	request := &odintable.TakeSeatRequest{
		RequestId: newRequestID(), Table: table, Name: name,
		Occupant: odintable.Occupant_OCCUPANT_PERSON,
	}
	if !asPerson {
		request.Occupant = odintable.Occupant_OCCUPANT_REMOTE_BOT
		if seat.mayGive(early) {
			request.Nonce, request.Commitment = early.nonce, early.commitment
		}
	}
	answer, err := s.Lobby.TakeSeat(ctx, request)
	if err != nil {
		return nil, err
	}
	log.Printf("%s sits at table %s, seat %d", name, table, answer.GetSeat())
	return seat, nil
}

// mayGive says whether the server takes this nonce while we are not ready.
func (s *Seat) mayGive(offer offer) bool {
	return s.giveNonce && offer.rounds > 0
}

// give adds a nonce to the next deal, whoever starts it and when. It returns the event after which the
// server has it, or 0 when it does not take it. A bot is always ready, so it may say so where that is the
// only way to give a nonce.
func (s *Seat) give(ctx context.Context, offer offer) (int32, error) {
	switch {
	case s.mayGive(offer):
		answer, err := s.server.Lobby.GiveNonce(ctx, &odintable.GiveNonceRequest{
			RequestId: newRequestID(), Table: s.table, Nonce: offer.nonce, Commitment: offer.commitment,
		})
		// When a substitute plays our seat, a nonce is not allowed.
		return answer.GetSeq(), unless(err, append(tooLate, odintable.ErrorReason_ERROR_REASON_NOT_ALLOWED)...)
	case s.asPerson:
		return 0, nil
	}
	return s.sayReady(ctx, offer)
}

// sayReady agrees to the start of the game or of the next deal, and adds a nonce to that deal. It
// returns the event after which the server has it, or 0 when others have started the deal meanwhile.
func (s *Seat) sayReady(ctx context.Context, offer offer) (int32, error) {
	answer, err := s.server.Lobby.SetReady(ctx, &odintable.SetReadyRequest{
		RequestId: newRequestID(), Table: s.table, Ready: true, Nonce: offer.nonce, Commitment: offer.commitment,
	})
	return answer.GetSeq(), unless(err, tooLate...)
}

// tooLate are the reasons why a nonce is refused when the next deal is another one by now.
var tooLate = []odintable.ErrorReason{
	odintable.ErrorReason_ERROR_REASON_ALREADY_STARTED,
	odintable.ErrorReason_ERROR_REASON_STALE_COMMITMENT,
	odintable.ErrorReason_ERROR_REASON_GAME_OVER,
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
