// What chance decides in a deal, worked out again from the bytes that the server reveals after it, as
// docs/fair-deal.md specifies.

package main

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"example.com/odin-table-go/odintable"
)

const (
	allColours = 6
	allNumbers = 9

	// Rounds of PBKDF2 that make the key of a deal with people; fewer are worth a warning.
	Rounds = 100_000
	// MaxRounds are as many as we compute.
	MaxRounds = 1_000_000
)

// Commitment is what the server publishes of a secret before it accepts the first nonce. It binds the
// rounds of deal/2; 0 stands for deal/1.
func Commitment(secret []byte, rounds int32) []byte {
	message := []byte("odin-table/commit/1\n")
	if rounds != 0 {
		message = binary.BigEndian.AppendUint32([]byte("odin-table/commit/2\n"), uint32(rounds))
	}
	sum := sha256.Sum256(append(message, secret...))
	return sum[:]
}

// KeyRounds are the rounds of a deal's key: one when no person plays in it.
func KeyRounds(rounds int32, hasPerson bool) int32 {
	if hasPerson {
		return rounds
	}
	return min(rounds, 1)
}

// Word are six letters for players to compare aloud: the same for all who were told the same.
func Word(commitment []byte, seats []int32, nonces [][]byte) string {
	message := append([]byte("odin-table/word/1\n"), commitment...)
	message = append(message, byte(len(seats)))
	for player, nonce := range nonces {
		message = append(message, byte(seats[player]), byte(len(nonce)))
		message = append(message, nonce...)
	}
	sum := sha256.Sum256(message)
	bits, word := binary.BigEndian.Uint32(sum[:4])>>2, make([]byte, 6)
	for place := range word {
		word[5-place] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[bits>>(5*place)&31]
	}
	return string(word)
}

// DrawFirst works out the first deal of a game: the player who opens it, the two colours that leave
// a short deck, and the order of the cards. There is one nonce per player. The rounds are those of the
// key; 0 stands for deal/1.
func DrawFirst(secret []byte, nonces [][]byte, shortDeck bool, rounds int32) (int, []odintable.Colour, []odintable.Card) {
	draws := newDraws(secret, nonces, 1, rounds)
	opener := draws.below(len(nonces))
	var removed []odintable.Colour
	if shortDeck {
		colours := deckColours(nil)
		for range 2 {
			place := draws.below(len(colours))
			removed = append(removed, colours[place])
			colours = slices.Delete(colours, place, place+1)
		}
		slices.Sort(removed)
	}
	return opener, removed, draws.shuffled(removed)
}

// DrawDeal works out the order of the cards in a later deal, numbered from 2.
func DrawDeal(
	secret []byte, nonces [][]byte, deal int32, removed []odintable.Colour, rounds int32,
) []odintable.Card {
	return newDraws(secret, nonces, deal, rounds).shuffled(removed)
}

// draws are numbers without bias, from one stream of bytes.
type draws struct {
	key   []byte
	block uint32
	bytes []byte
}

func newDraws(secret []byte, nonces [][]byte, deal, rounds int32) *draws {
	message := []byte("odin-table/deal/1\n")
	if rounds > 0 {
		message = []byte("odin-table/deal/2\n")
	}
	message = binary.BigEndian.AppendUint32(message, uint32(deal))
	message = append(message, byte(len(nonces)))
	for _, nonce := range nonces {
		message = append(message, byte(len(nonce)))
		message = append(message, nonce...)
	}
	if rounds == 0 {
		return &draws{key: digest(secret, message)}
	}
	key, err := pbkdf2.Key(sha256.New, string(secret), message, int(rounds), sha256.Size)
	if err != nil {
		panic(err) // these lengths are never wrong
	}
	return &draws{key: key}
}

// below draws a number from 0 to bound-1. Bytes that would favour the low numbers are thrown away.
func (d *draws) below(bound int) int {
	for {
		if len(d.bytes) == 0 {
			d.bytes = digest(d.key, binary.BigEndian.AppendUint32(nil, d.block))
			d.block++
		}
		drawn := int(d.bytes[0])
		d.bytes = d.bytes[1:]
		if drawn < 256-256%bound {
			return drawn % bound
		}
	}
}

// shuffled is the deck without the removed colours, in the order in which it is dealt.
func (d *draws) shuffled(removed []odintable.Colour) []odintable.Card {
	var cards []odintable.Card
	for _, colour := range deckColours(removed) {
		for number := range allNumbers {
			cards = append(cards, odintable.Card(allNumbers*(int(colour)-1)+number+1))
		}
	}
	for last := len(cards) - 1; last > 0; last-- {
		chosen := d.below(last + 1)
		cards[last], cards[chosen] = cards[chosen], cards[last]
	}
	return cards
}

// deckColours are the colours in the order R O Y G B V, without the removed ones.
func deckColours(removed []odintable.Colour) []odintable.Colour {
	var colours []odintable.Colour
	for place := range allColours {
		if colour := odintable.Colour(place + 1); !slices.Contains(removed, colour) {
			colours = append(colours, colour)
		}
	}
	return colours
}

func digest(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(message) // never fails
	return mac.Sum(nil)
}
