package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/odin-table-go/odintable"
)

// A vector of the specification. Bytes are in hex, cards are written as R7, colours as R.
type vector struct {
	Secret, Commitment string
	Nonces             []string
	Deal               int32
	ShortDeck          bool `json:"short_deck"`
	FirstOpener        int  `json:"first_opener"`
	Removed, Order     []string
	Seats              []int32
	Word               string
	Rounds             int32 // 0 for deal/1
	HasPerson          bool  `json:"has_person"`
	KeyRounds          int32 `json:"key_rounds"`
}

func TestVectorsOfTheSpecification(t *testing.T) {
	var vectors []vector
	for _, name := range []string{"vectors.json", "vectors_2.json"} {
		text, err := os.ReadFile("../../tests/engine/fair_deal/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var some []vector
		if err := json.Unmarshal(text, &some); err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			t.Fatal("there are no vectors")
		}
		vectors = append(vectors, some...)
	}
	for _, v := range vectors {
		t.Run(v.Commitment[:8], func(t *testing.T) {
			secret := unhex(t, v.Secret)
			if got := hex.EncodeToString(Commitment(secret, v.Rounds)); got != v.Commitment {
				t.Errorf("commitment %s, want %s", got, v.Commitment)
			}
			var nonces [][]byte
			for _, nonce := range v.Nonces {
				nonces = append(nonces, unhex(t, nonce))
			}
			rounds := KeyRounds(v.Rounds, v.HasPerson)
			if rounds != v.KeyRounds {
				t.Errorf("rounds %d, want %d", rounds, v.KeyRounds)
			}
			if got := Word(Commitment(secret, v.Rounds), v.Seats, nonces); got != v.Word {
				t.Errorf("word %s, want %s", got, v.Word)
			}
			removed := coloursOf(v.Removed)
			var order []odintable.Card
			if v.Deal == 1 {
				var opener int
				var drawn []odintable.Colour
				opener, drawn, order = DrawFirst(secret, nonces, v.ShortDeck, rounds)
				if opener != v.FirstOpener {
					t.Errorf("opener %d, want %d", opener, v.FirstOpener)
				}
				if !slices.Equal(drawn, removed) {
					t.Errorf("removed %v, want %v", drawn, removed)
				}
			} else {
				order = DrawDeal(secret, nonces, v.Deal, removed, rounds)
			}
			if want := cardsOf(v.Order); !slices.Equal(order, want) {
				t.Errorf("order %v, want %v", order, want)
			}
		})
	}
}

func unhex(t *testing.T, text string) []byte {
	bytes, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func cardsOf(texts []string) []odintable.Card {
	var cards []odintable.Card
	for _, text := range texts {
		cards = append(cards, odintable.Card(odintable.Card_value["CARD_"+text]))
	}
	return cards
}

func coloursOf(letters []string) []odintable.Colour {
	var colours []odintable.Colour
	for _, letter := range letters {
		colours = append(colours, odintable.Colour(strings.Index("ROYGBV", letter)+1))
	}
	return colours
}
