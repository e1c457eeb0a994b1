// What the server can be held to: a snapshot takes the place of all that a Table knows, and a server
// may send one whenever it likes. So promises are kept apart, for the life of the process.

package main

import (
	"bytes"
	"crypto/rand"
	"fmt"

	"example.com/odin-table-go/odintable"
)

// A Lie is what the server says of a deal and what contradicts what it said before. Do not play on.
type Lie struct {
	deal    int32
	problem string
}

func (l *Lie) Error() string {
	return fmt.Sprintf("deal %d: THE SERVER LIES: %s", l.deal, l.problem)
}

// A dealKey names a deal of a table: its game and its number in that.
type dealKey struct{ game, deal int32 }

// A promise is what is known of one deal.
type promise struct {
	key        dealKey
	log        string           // the log in which the server spoke of it last
	commitment []byte           // empty: the server committed itself to nothing
	rounds     int32            // what the commitment binds; 0: a deal by deal/1
	early      []byte           // what we add before we are ready
	nonce      []byte           // what we add when we are
	offered    bool             // whether we have tried to add something
	taken      []byte           // which of the two the server has, or nil
	takenAt    int32            // the event after which it has it
	terms      *terms           // what it started from, once it has
	hand       []odintable.Card // what we were dealt, if we saw it
	seen       int32            // the last event of it that we saw
	gap        string           // why it is not checked in full, or ""
	told       bool             // whether we have said what came of it
}

// An offer is what we add to a deal, so that the server does not choose the cards alone.
type offer struct {
	nonce      []byte
	commitment []byte // which the nonce is for
	rounds     int32  // what the commitment binds; 0: a deal by deal/1
}

// terms are what a deal starts from, besides its commitment.
type terms struct {
	Seats   []int32
	Nonces  [][]byte
	Opener  int32
	Removed []odintable.Colour
	Rounds  int32 // of its key
}

// A sourced message says what a deal follows from, in a field of its own when it is by deal/2.
type sourced interface {
	GetCommitment() []byte
	GetSource() *odintable.DealSource
}

// promisedIn is the commitment in a message, and the rounds that it binds.
func promisedIn(message sourced) ([]byte, int32) {
	if source := message.GetSource(); source != nil {
		return source.GetCommitment(), source.GetRounds()
	}
	return message.GetCommitment(), 0
}

// noncesIn are the nonces in a message.
func noncesIn(message interface {
	sourced
	GetNonces() [][]byte
}) [][]byte {
	if source := message.GetSource(); source != nil {
		return source.GetNonces()
	}
	return message.GetNonces()
}

func (t terms) equal(other terms) bool {
	return fmt.Sprint(t) == fmt.Sprint(other)
}

// offer is what we add to the deal: always the same, so that a server cannot ask for another one until it
// likes the cards. What we add once we are ready differs from what we add early, since a server that
// knows a nonce early has long to search for a deck that it likes.
func (p *promise) offer(early bool) offer {
	nonce := &p.nonce
	if early {
		nonce = &p.early
	}
	if *nonce == nil {
		*nonce = make([]byte, 32)
		rand.Read(*nonce) // never fails
	}
	return offer{*nonce, p.commitment, p.rounds}
}

// mustBeOurs compares the nonce of our seat, by what the server says, with the one that it took. One
// that went with the seat is known to be taken when the server shows it.
func (p *promise) mustBeOurs(nonce []byte) error {
	switch {
	case p.taken != nil && !bytes.Equal(nonce, p.taken):
		return p.lie("it left out our nonce, which it had taken")
	case p.early != nil && bytes.Equal(nonce, p.early):
		p.taken = p.early
	}
	return nil
}

func (p *promise) lie(problem string) error {
	return &Lie{p.key.deal, problem}
}

// promises are all that this server has promised at our table.
type promises map[dealKey]*promise

// note compares what the server says that a deal follows from with what it said before. In another
// log that may be something else: then the table was set back, as from a backup.
func (all promises) note(key dealKey, log string, message sourced) (*promise, error) {
	commitment, rounds := promisedIn(message)
	for other, known := range all {
		if other != key && len(commitment) > 0 && bytes.Equal(known.commitment, commitment) {
			return nil, &Lie{key.deal, "it is committed to the secret of another deal"}
		}
	}
	known := all[key]
	same := known != nil && bytes.Equal(known.commitment, commitment) && known.rounds == rounds
	switch {
	case known == nil:
		all[key] = &promise{key: key, log: log, commitment: commitment, rounds: rounds}
	case known.log == log && !same:
		return nil, known.lie("it follows from another commitment than the one before the nonces")
	case known.log != log:
		all[key] = &promise{key: key, log: log, commitment: commitment, rounds: rounds}
		if same {
			all[key].early, all[key].nonce = known.early, known.nonce
		}
		if !same || known.taken != nil || known.terms != nil {
			all[key].gap = "the table was set back"
		}
	}
	return all[key], nil
}
