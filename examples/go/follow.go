// Following a table: one stream after another, without a hole in the events.

package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"log"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"example.com/odin-table-go/odintable"
)

// silence is how long a stream may say nothing; the server says something every ten seconds.
const silence = 25 * time.Second

var (
	errSilent    = errors.New("the server fell silent")
	errHole      = errors.New("events are missing")
	errNoStream  = errors.New("the server ended the stream")
	errNoReturn  = errors.New("the server wants nobody back")
	errUnwatched = errors.New("the caller stopped")
)

// A comeback is the server's own wish: end this stream, and come back after a while.
type comeback struct{ after time.Duration }

func (comeback) Error() string { return "the server asks to come back" }

// Follow yields the items of a table's stream, the first of them a snapshot. After a broken or
// silent line it resumes behind the last event. It ends when the server wants nobody back, after an
// error for good (the last pair), or with the context.
func (s *Server) Follow(ctx context.Context, table string) iter.Seq2[*odintable.WatchTableResponse, error] {
	return func(yield func(*odintable.WatchTableResponse, error) bool) {
		// The request is also the place where we are: after_seq and log_id.
		request := &odintable.WatchTableRequest{Table: table}
		failures := 0
		for {
			err := s.followOnce(ctx, request, func(item *odintable.WatchTableResponse) bool {
				failures = 0
				return yield(item, nil)
			})
			if err == errNoReturn || err == errUnwatched || ctx.Err() != nil {
				return
			}
			if isFinal(err) {
				yield(nil, err)
				return
			}
			if err == errHole {
				request.AfterSeq = nil // start again with a snapshot
			}
			failures++
			pause := pauseAfter(failures, askedPause(err))
			log.Printf("the line broke (%v), resuming after event %d in %v", err, request.GetAfterSeq(), pause)
			if sleep(ctx, pause) != nil {
				return
			}
		}
	}
}

// followOnce yields the items of one stream and moves the request on. It always returns an error.
func (s *Server) followOnce(ctx context.Context, request *odintable.WatchTableRequest,
	yield func(*odintable.WatchTableResponse) bool,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := s.Play.WatchTable(ctx, request)
	if err != nil {
		return refusalOf(err)
	}
	for {
		watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
		item, err := stream.Recv()
		watchdog.Stop()
		switch {
		case context.Cause(ctx) == errSilent:
			return errSilent
		case err == io.EOF:
			return errNoStream
		case err != nil:
			return refusalOf(err)
		}
		if err := advance(request, item); err != nil {
			return err
		}
		if !yield(item) {
			return errUnwatched
		}
		if end := item.GetStreamEnd(); end != nil {
			if end.GetRetryAfter() == nil {
				return errNoReturn
			}
			return comeback{end.GetRetryAfter().AsDuration()}
		}
	}
}

// advance notes how far an item brings us. Events have to follow the last one without a hole.
func advance(request *odintable.WatchTableRequest, item *odintable.WatchTableResponse) error {
	if view := item.GetSnapshot(); view != nil {
		request.AfterSeq, request.LogId = proto.Int32(view.GetSeq()), view.GetLogId()
	}
	for _, event := range item.GetEvents().GetEvents() {
		if event.GetSeq() != request.GetAfterSeq()+1 {
			return errHole
		}
		request.AfterSeq = proto.Int32(event.GetSeq())
	}
	return nil
}

// askedPause is how long the server asked to be left alone.
func askedPause(err error) time.Duration {
	switch err := err.(type) {
	case comeback:
		return err.after
	case *Refusal:
		return err.RetryAfter
	}
	return 0
}

// isFinal says that another attempt would end the same way. A stream changes nothing, so in doubt
// it is opened again.
func isFinal(err error) bool {
	refusal, refused := err.(*Refusal)
	if !refused {
		return false
	}
	switch refusal.Code {
	case codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated,
		codes.FailedPrecondition, codes.Unimplemented:
		return true
	}
	return false
}
