// Following a table: one stream after another, without a hole in the events.

package main

import (
	"context"
	"io"
	"iter"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"example.com/odin-table-go/odintable"
)

// silence is how long a stream may say nothing; the server says something every ten seconds.
const silence = 25 * time.Second

// Follow yields the items of a table's stream, the first of them a snapshot. It resumes behind the
// last event after a broken or silent line, and when the server asks for it. An error is the last
// thing that it yields.
func (s *Server) Follow(ctx context.Context, table string) iter.Seq2[*odintable.WatchTableResponse, error] {
	return func(yield func(*odintable.WatchTableResponse, error) bool) {
		// The request is also the place where we are: after_seq and log_id.
		request := &odintable.WatchTableRequest{Table: table}
		failures := 0
		for {
			refusal := s.followOnce(ctx, request, func(item *odintable.WatchTableResponse) bool {
				failures = 0
				return yield(item, nil)
			})
			switch {
			case refusal == nil:
				return // the caller has seen enough
			case !refusal.Passing():
				yield(nil, refusal)
				return
			}
			failures++
			if err := refusal.wait(ctx, failures); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// followOnce yields the items of one stream and moves the request on. It says why the stream ended,
// or nothing when the caller ended it.
func (s *Server) followOnce(ctx context.Context, request *odintable.WatchTableRequest,
	yield func(*odintable.WatchTableResponse) bool,
) *Refusal {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	stream, err := s.Play.WatchTable(ctx, request)
	if err != nil {
		return refusalOf(err)
	}
	for {
		item, err := stream.Recv()
		switch {
		case !watchdog.Reset(silence):
			return unavailable("the server fell silent")
		case err == io.EOF:
			return unavailable("the server ended the stream")
		case err != nil:
			return refusalOf(err)
		}
		if end := item.GetStreamEnd(); end != nil {
			return ended(end)
		}
		if !advance(request, item) {
			request.AfterSeq = nil // start again with a snapshot
			return unavailable("events are missing")
		}
		if !yield(item) {
			return nil
		}
	}
}

// unavailable is a stream that is worth another attempt.
func unavailable(message string) *Refusal {
	return &Refusal{Code: codes.Unavailable, Message: message}
}

// ended is what the server says when it ends a stream by itself. It wants nobody back when it names no
// time for that, as when the same seat is watched from elsewhere (SUPERSEDED).
func ended(end *odintable.StreamEnd) *Refusal {
	reason := strings.TrimPrefix(end.GetReason().String(), "STREAM_END_REASON_")
	if end.GetRetryAfter() == nil {
		return &Refusal{Code: codes.FailedPrecondition, Message: "the server ended the stream for good: " + reason}
	}
	refusal := unavailable("the server ended the stream: " + reason)
	refusal.RetryAfter = end.GetRetryAfter().AsDuration()
	return refusal
}

// advance notes how far an item brings us. Events have to follow the last one without a hole.
func advance(request *odintable.WatchTableRequest, item *odintable.WatchTableResponse) bool {
	if view := item.GetSnapshot(); view != nil {
		request.AfterSeq, request.LogId = proto.Int32(view.GetSeq()), view.GetLogId()
	}
	for _, event := range item.GetEvents().GetEvents() {
		if event.GetSeq() != request.GetAfterSeq()+1 {
			return false
		}
		request.AfterSeq = proto.Int32(event.GetSeq())
	}
	return true
}
