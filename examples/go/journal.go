// What everybody could see, as lines of JSON: the events in protobuf's JSON mapping, then the result.

package main

import (
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"example.com/odin-table-go/odintable"
)

// A Journal writes one line per event.
type Journal struct{ out io.Writer }

// Note writes the public part of the events of an item.
func (j Journal) Note(item *odintable.WatchTableResponse) error {
	for _, event := range item.GetEvents().GetEvents() {
		line, err := protojson.Marshal(publicPart(event))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(j.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the result.
func (j Journal) Close(table *Table) error {
	return json.NewEncoder(j.out).Encode(struct {
		Winners []int32 `json:"winners"`
		Totals  []Total `json:"totals"`
	}{table.Winners, table.Totals})
}

// publicPart is an event without what only our seat may see of it.
func publicPart(event *odintable.Event) *odintable.Event {
	public := proto.CloneOf(event)
	if deal := public.GetDealStarted(); deal != nil {
		deal.Hand = nil
	}
	if decision := public.GetDecisionOpened().GetDecision(); decision != nil {
		decision.Choices = nil
	}
	return public
}
