// The shortest good client for odin-table: it sits down at a table as a bot and plays one game to its end.
//
//	odin-table-go-short HOST:PORT --table HANDLE [--name NAME] [--credential FILE]
//
// It keeps two things of the table, the number of the last event and the open decision, and checks no
// deals. The client in the folder above does more. Read from main downwards.
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	mathrand "math/rand/v2"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"example.com/odin-table-go/odintable"
)

const (
	callDeadline = 5 * time.Second  // for one attempt of a call
	patience     = time.Minute      // for all attempts of a call together
	silence      = 25 * time.Second // a stream that says nothing for so long is dead
	firstPause   = 300 * time.Millisecond
	longestPause = 3 * time.Second
)

func main() {
	flags := flag.NewFlagSet("odin-table-go-short HOST:PORT", flag.ExitOnError)
	table := flags.String("table", "", "the `HANDLE` of the table to play at")
	name := flags.String("name", "Shorty", "the `NAME` to play under")
	file := flags.String("credential", "", "the `FILE` to keep the credential in: with it a client that is started again has its seat back")
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		flags.Usage()
		os.Exit(2)
	}
	flags.Parse(os.Args[2:])
	if err := run(os.Args[1], *table, *name, *file); err != nil {
		log.Fatal(err)
	}
}

func run(address, table, name, file string) error {
	secret, err := keptCredential(file)
	if err != nil {
		return err
	}
	channel, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(credential(secret)),
		// gRPC's own pauses between two attempts to connect reach two minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstPause, Multiplier: 2, MaxDelay: longestPause},
			MinConnectTimeout: callDeadline,
		}),
	)
	if err != nil {
		return err
	}
	defer channel.Close()
	lobby := odintable.NewLobbyServiceClient(channel)
	// If the credential has a seat at the table already, this returns that one.
	seated, err := call(lobby.TakeSeat, &odintable.TakeSeatRequest{
		RequestId: rand.Text(), Table: table, Name: name, Occupant: odintable.Occupant_OCCUPANT_REMOTE_BOT,
	})
	if err != nil {
		return err
	}
	place := &odintable.WatchTableRequest{Table: table}
	p := player{service: odintable.NewPlayServiceClient(channel), seat: seated.GetSeat(), place: place}
	for {
		err := p.watch()
		if err == nil {
			log.Printf("the game is over, the winning seats are %v", p.winners)
			return nil
		}
		p.failures++
		if err := pause(err, p.failures); err != nil {
			return err
		}
	}
}

type player struct {
	service  odintable.PlayServiceClient
	seat     int32
	place    *odintable.WatchTableRequest // where we are: after_seq and log_id
	decision *odintable.Decision          // the open one, or nil
	over     bool
	winners  []int32
	failures int // in a row
}

// watch follows one stream and acts when it is our turn. It returns nil when the game is over.
func (p *player) watch() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	stream, err := p.service.WatchTable(ctx, p.place)
	if err != nil {
		return err
	}
	for {
		item, err := stream.Recv()
		if err != nil {
			return err // io.EOF as well: the server has to say StreamEnd first, so that is a broken stream
		}
		watchdog.Reset(silence)
		p.failures = 0
		// Take in the whole item before acting: what was open at its start may be over at its end.
		if err := p.take(item); err != nil {
			return err
		}
		if p.over {
			return nil
		}
		if p.decision.GetChoices() != nil { // only our own decisions have choices
			if err := p.act(); err != nil {
				return err
			}
		}
	}
}

// take notes what an item says. Unknown items and events are stepped over, but each event counts.
func (p *player) take(item *odintable.WatchTableResponse) error {
	switch item := item.GetItem().(type) {
	case *odintable.WatchTableResponse_Snapshot: // replaces all that we knew
		view := item.Snapshot
		p.place.AfterSeq, p.place.LogId = proto.Int32(view.GetSeq()), view.GetLogId()
		p.decision, p.winners = view.GetDecision(), view.GetGame().GetWinners()
		p.over = view.GetPhase() == odintable.TablePhase_TABLE_PHASE_GAME_OVER
		if view.YourSeat == nil {
			return forGood("our seat is gone")
		}
	case *odintable.WatchTableResponse_Events:
		for _, event := range item.Events.GetEvents() {
			if event.GetSeq() != p.place.GetAfterSeq()+1 {
				p.place.AfterSeq = nil // start again with a snapshot
				return status.Error(codes.Unavailable, "events are missing")
			}
			p.place.AfterSeq = proto.Int32(event.GetSeq())
			switch payload := event.GetPayload().(type) {
			case *odintable.Event_DecisionOpened:
				p.decision = payload.DecisionOpened.GetDecision()
			case *odintable.Event_CardsPlayed, *odintable.Event_CardPickedUp, *odintable.Event_Passed:
				p.decision = nil
			case *odintable.Event_GameEnded:
				p.over, p.winners = true, payload.GameEnded.GetWinners()
			case *odintable.Event_SeatLeft: // such as REMOVED: the host has freed our seat
				if payload.SeatLeft.GetSeat() == p.seat {
					return forGood("our seat is gone")
				}
			}
		}
	case *odintable.WatchTableResponse_StreamEnd:
		end := item.StreamEnd
		if end.GetRetryAfter() == nil { // SUPERSEDED, TABLE_CLOSED: do not come back
			return forGood(fmt.Sprintf("the server ended the stream: %v", end.GetReason()))
		}
		again, err := status.New(codes.Unavailable, "the server ended the stream for now").
			WithDetails(&errdetails.RetryInfo{RetryDelay: end.GetRetryAfter()})
		if err != nil {
			return err
		}
		return again.Err()
	}
	return nil
}

// act answers the open decision with the first play, or as the server proposes.
func (p *player) act() error {
	choices := p.decision.GetChoices()
	action := choices.GetDefaultAction()
	switch p.decision.GetKind() { // of a kind that we do not know, the default action is right
	case odintable.DecisionKind_DECISION_KIND_OPEN, odintable.DecisionKind_DECISION_KIND_RESPOND:
		if plays := choices.GetPlays(); len(plays) > 0 {
			play := &odintable.PlayCards{Cards: plays[0].GetCards()}
			action = &odintable.Action{Action: &odintable.Action_PlayCards{PlayCards: play}}
		}
	}
	_, err := call(p.service.Act, &odintable.ActRequest{
		RequestId: rand.Text(), Table: p.place.GetTable(), DecisionId: p.decision.GetId(), Action: action,
	})
	p.decision = nil
	switch status.Code(err) {
	case codes.Aborted, codes.FailedPrecondition: // the table has moved on: the stream tells how
		return nil
	}
	return err
}

// call makes a call until it is answered, or refused for good. Each attempt sends the same request with
// the same request id, so that the server carries it out once.
func call[Request, Answer any](
	method func(context.Context, Request, ...grpc.CallOption) (Answer, error), request Request,
) (Answer, error) {
	giveUp := time.Now().Add(patience)
	for failures := 1; ; failures++ {
		ctx, cancel := context.WithTimeout(context.Background(), callDeadline)
		answer, err := method(ctx, request)
		cancel()
		if err == nil || time.Now().After(giveUp) {
			return answer, err
		}
		if err := pause(err, failures); err != nil {
			return answer, err
		}
	}
}

// pause waits before the next attempt, longer after each failure and for as long as the server asks. It
// returns the error when another attempt is pointless.
func pause(err error, failures int) error {
	failed := status.Convert(err)
	refused, after := false, time.Duration(0)
	for _, detail := range failed.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			refused = true
		case *errdetails.RetryInfo:
			after = detail.GetRetryDelay().AsDuration()
		}
	}
	switch failed.Code() {
	case codes.Unavailable, codes.DeadlineExceeded:
	case codes.Canceled, codes.Internal, codes.Unknown: // gRPC's words for a broken connection
		if refused {
			return err
		}
	default:
		if after == 0 {
			return err
		}
	}
	longest := min(firstPause<<min(failures-1, 10), longestPause)
	time.Sleep(max(longest-mathrand.N(longest/3), after))
	return nil
}

// forGood is the end of a stream that we must not open again.
func forGood(message string) error {
	return status.Error(codes.FailedPrecondition, message)
}

// keptCredential reads the credential from a file, or makes a new one and writes it there. Anyone who has
// it has the seat, so only the owner may read the file. Without a file it lasts as long as the process.
func keptCredential(file string) (string, error) {
	if kept, err := os.ReadFile(file); file != "" && !errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSpace(string(kept)), err
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	secret := base64.RawURLEncoding.EncodeToString(random[:])
	if file == "" {
		return secret, nil
	}
	return secret, os.WriteFile(file, []byte(secret+"\n"), 0o600)
}

// A credential is sent with every call, and so is the revision of the contract that we were written for.
type credential string

func (c credential) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(c), "odin-table-revision": "1"}, nil
}

func (credential) RequireTransportSecurity() bool {
	return false
}
