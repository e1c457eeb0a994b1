// A client for odin-table: lists the tables of a server, or sits down at one and plays a game.
//
//	odin-table-go HOST:PORT
//	odin-table-go HOST:PORT --table HANDLE [--name NAME] [--ready] [--events FILE] [--credential FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"google.golang.org/protobuf/encoding/protojson"

	"example.com/odin-table-go/odintable"
)

type settings struct {
	address, table, name, events, credential string
	ready                                    bool
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("odin-table-go: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, parse(os.Args[1:])); err != nil {
		log.Print(err)
		os.Exit(exitCode(err))
	}
}

var errNotInFull = errors.New("not every deal could be checked in full")

// exitCode is 9 after a lie, 8 when a deal was not checked in full, 1 after anything else.
func exitCode(err error) int {
	var lie *Lie
	switch {
	case errors.As(err, &lie):
		return 9
	case errors.Is(err, errNotInFull):
		return 8
	}
	return 1
}

func parse(arguments []string) settings {
	var s settings
	flags := flag.NewFlagSet("odin-table-go HOST:PORT", flag.ExitOnError)
	flags.StringVar(&s.table, "table", "", "the `HANDLE` of the table to play at; without it the tables are listed")
	flags.StringVar(&s.name, "name", "Gopher", "the `NAME` to play under")
	flags.BoolVar(&s.ready, "ready", false,
		"sit down as a person, who says ready before each deal; without it as a bot, which always is")
	flags.StringVar(&s.events, "events", "", "the `FILE` to write the events to; without it standard output")
	flags.StringVar(&s.credential, "credential", "",
		"the `FILE` to keep the credential in: with it a client that is started again has its seat back")
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		flags.Usage()
		os.Exit(2)
	}
	s.address = arguments[0]
	flags.Parse(arguments[1:]) // leaves the program when it cannot
	return s
}

func run(ctx context.Context, s settings) error {
	server, err := Dial(s.address, s.credential)
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
	return play(ctx, server, s, out)
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
func play(ctx context.Context, server *Server, s settings, out io.Writer) error {
	check := NewDealCheck()
	if view := server.look(ctx, s.table); view != nil {
		if err := check.restart(view); err != nil {
			return err
		}
	}
	seat, err := server.sitDown(ctx, s.table, s.name, s.ready, check.EarlyOffer())
	if err != nil {
		return err
	}
	var table Table
	for item, err := range server.Follow(ctx, s.table) {
		if err != nil {
			return err
		}
		table.Apply(item)
		if err := record(out, item); err != nil {
			return err
		}
		if err := check.Apply(item); err != nil {
			return err
		}
		if table.Over {
			break
		}
		if table.Unseated {
			return errors.New("our seat is gone: the host has removed us, or we were away for too long")
		}
		if s.ready && table.Asked {
			table.Asked = false
			offer := check.Offer()
			seq, err := seat.sayReady(ctx, offer)
			if err != nil {
				return err
			}
			check.Taken(offer, seq)
		} else if offer := check.EarlyOffer(); offer.nonce != nil {
			seq, err := seat.give(ctx, offer)
			if err != nil {
				return err
			}
			check.Taken(offer, seq)
		}
		if decision := table.TakeDecision(); decision != nil {
			if err := seat.act(ctx, decision, choose(decision)); err != nil {
				return err
			}
		}
	}
	if len(table.Winners) == 0 {
		return errors.New("the table was closed before the game was over")
	}
	log.Print(table.Result())
	if err := seat.leave(ctx); err != nil {
		return err
	}
	if check.NotInFull > 0 {
		return errNotInFull
	}
	return nil
}

// record writes the events of an item as lines of JSON, as this seat sees them.
func record(out io.Writer, item *odintable.WatchTableResponse) error {
	for _, event := range item.GetEvents().GetEvents() {
		line, err := protojson.Marshal(event)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
