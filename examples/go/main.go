// A client for odin-table: lists the tables of a server, or sits down at one and plays a game.
//
//	odin-table-go HOST:PORT
//	odin-table-go HOST:PORT --table HANDLE --name NAME [--ready] [--events FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"example.com/odin-table-go/odintable"
)

type settings struct {
	address, table, name, events string
	ready                        bool
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("odin-table-go: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, parse(os.Args[1:])); err != nil {
		log.Fatal(err)
	}
}

func parse(arguments []string) settings {
	var s settings
	flags := flag.NewFlagSet("odin-table-go HOST:PORT", flag.ExitOnError)
	flags.StringVar(&s.table, "table", "", "the `HANDLE` of the table to play at; without it the tables are listed")
	flags.StringVar(&s.name, "name", "Gopher", "the `NAME` to play under")
	flags.BoolVar(&s.ready, "ready", false,
		"sit down as a person, who says ready before each deal; without it as a bot, which always is")
	flags.StringVar(&s.events, "events", "", "the `FILE` to write the public events to; without it standard output")
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		flags.Usage()
		os.Exit(2)
	}
	s.address = arguments[0]
	flags.Parse(arguments[1:]) // leaves the program when it cannot
	return s
}

func run(ctx context.Context, s settings) error {
	server, err := Dial(s.address)
	if err != nil {
		return err
	}
	defer server.Close()
	if s.table == "" {
		return list(ctx, server)
	}
	out := os.Stdout
	if s.events != "" {
		if out, err = os.Create(s.events); err != nil {
			return err
		}
		defer out.Close()
	}
	return play(ctx, server, s, Journal{out})
}

// list prints the public tables, page by page.
func list(ctx context.Context, server *Server) error {
	request := &odintable.ListTablesRequest{}
	for {
		page, err := server.Lobby.ListTables(ctx, request)
		if err != nil {
			return err
		}
		for _, table := range page.GetTables() {
			var names []string
			for _, seat := range table.GetSeats() {
				if seat.GetOccupant() != odintable.Occupant_OCCUPANT_UNSPECIFIED {
					names = append(names, printable(seat.GetName()))
				}
			}
			phase := strings.ToLower(strings.TrimPrefix(table.GetPhase().String(), "TABLE_PHASE_"))
			fmt.Printf("%s  %s  %d of %d seats  %s\n", table.GetTable(), phase,
				len(names), len(table.GetSeats()), strings.Join(names, ", "))
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return nil
		}
	}
}

// play sits down, plays one game to its end and leaves the seat.
func play(ctx context.Context, server *Server, s settings, journal Journal) error {
	occupant := odintable.Occupant_OCCUPANT_REMOTE_BOT
	if s.ready {
		occupant = odintable.Occupant_OCCUPANT_PERSON
	}
	seat, err := server.Lobby.TakeSeat(ctx, &odintable.TakeSeatRequest{
		RequestId: newRequestID(), Table: s.table, Name: s.name, Occupant: occupant,
	})
	if err != nil {
		return err
	}
	log.Printf("%s sits at table %s, seat %d", s.name, s.table, seat.GetSeat())

	var table Table
	var answered int32
	for item, err := range server.Follow(ctx, s.table) {
		if err != nil {
			return err
		}
		table.Apply(item)
		if err := journal.Note(item); err != nil {
			return err
		}
		if table.Over() {
			break
		}
		if s.ready && table.Paused() && !table.Ready {
			table.Ready = true
			if err := sayReady(ctx, server, s.table); err != nil {
				return err
			}
		}
		if decision := table.MyDecision(); decision != nil && decision.GetId() != answered {
			answered = decision.GetId()
			if err := answer(ctx, server, s.table, decision); err != nil {
				return err
			}
		}
	}
	if !table.Over() {
		return errors.Join(errors.New("the game was not finished"), ctx.Err())
	}
	log.Print(table.Result())
	if err := journal.Close(&table); err != nil {
		return err
	}
	_, err = server.Lobby.LeaveSeat(ctx, &odintable.LeaveSeatRequest{RequestId: newRequestID(), Table: s.table})
	return unless(err, odintable.ErrorReason_ERROR_REASON_GAME_OVER, odintable.ErrorReason_ERROR_REASON_TABLE_NOT_FOUND)
}

// answer decides, and acts until something has come of it.
func answer(ctx context.Context, server *Server, table string, decision *odintable.Decision) error {
	action := choose(decision)
	for {
		_, err := server.Play.Act(ctx, &odintable.ActRequest{
			RequestId: newRequestID(), Table: table, DecisionId: decision.GetId(), Action: action,
		})
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			return err
		}
		fallback := decision.GetChoices().GetDefaultAction()
		if refusal.Reason != odintable.ErrorReason_ERROR_REASON_ILLEGAL_ACTION || action == fallback {
			// The table has moved on without us: the stream tells how.
			return unless(err,
				odintable.ErrorReason_ERROR_REASON_STALE_DECISION,
				odintable.ErrorReason_ERROR_REASON_NOT_YOUR_TURN,
				odintable.ErrorReason_ERROR_REASON_NOT_STARTED,
				odintable.ErrorReason_ERROR_REASON_GAME_OVER)
		}
		log.Printf("my strategy broke a rule, taking the default action: %v", refusal)
		action = fallback
	}
}

func sayReady(ctx context.Context, server *Server, table string) error {
	_, err := server.Lobby.SetReady(ctx, &odintable.SetReadyRequest{
		RequestId: newRequestID(), Table: table, Ready: true,
	})
	// Others may have started it meanwhile.
	return unless(err, odintable.ErrorReason_ERROR_REASON_ALREADY_STARTED, odintable.ErrorReason_ERROR_REASON_GAME_OVER)
}

// unless is the error, but nil for a refusal with one of the given reasons.
func unless(err error, harmless ...odintable.ErrorReason) error {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		for _, reason := range harmless {
			if refusal.Reason == reason {
				return nil
			}
		}
	}
	return err
}
