// One connection to one server: credential, deadlines, safe repeats, typed refusals.

package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
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
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"example.com/odin-table-go/odintable"
)

const (
	// callDeadline ends one attempt of a call, patience all its attempts together. A dead line is
	// noticed after 15 s (see Dial), so patience is longer than that.
	callDeadline = 5 * time.Second
	patience     = time.Minute

	firstPause   = 300 * time.Millisecond
	longestPause = 3 * time.Second
)

// A Server is a connection to a server, with one credential.
type Server struct {
	Lobby   odintable.LobbyServiceClient
	Play    odintable.PlayServiceClient
	channel *grpc.ClientConn
}

// Dial prepares a connection to HOST:PORT, with the credential that is kept in a file. Nothing is sent
// yet.
func Dial(address, file string) (*Server, error) {
	identity, err := keptCredential(file)
	if err != nil {
		return nil, err
	}
	channel, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(identity),
		grpc.WithUnaryInterceptor(repeat),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 10 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true,
		}),
		// gRPC's own pauses between two attempts to connect reach two minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstPause, Multiplier: 2, MaxDelay: longestPause},
			MinConnectTimeout: callDeadline,
		}),
	)
	if err != nil {
		return nil, err
	}
	return &Server{odintable.NewLobbyServiceClient(channel), odintable.NewPlayServiceClient(channel), channel}, nil
}

// Close ends the connection. The seat is kept.
func (s *Server) Close() error {
	return s.channel.Close()
}

// A credential says who is asking. Anyone who has it has the seat.
type credential string

// keptCredential reads the credential from a file, or makes a new one and writes it there, for its owner
// alone. A client that is started again with the same file has its seat back. Without a file the
// credential lasts as long as the process.
func keptCredential(file string) (credential, error) {
	if file != "" {
		kept, err := os.ReadFile(file)
		if !errors.Is(err, fs.ErrNotExist) {
			return credential(strings.TrimSpace(string(kept))), err
		}
	}
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	text := base64.RawURLEncoding.EncodeToString(secret[:])
	if file == "" {
		return credential(text), nil
	}
	return credential(text), os.WriteFile(file, []byte(text+"\n"), 0o600)
}

func (c credential) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(c), "odin-table-revision": "1"}, nil
}

func (credential) RequireTransportSecurity() bool {
	return false
}

// repeat makes a call, again and again while it may still succeed. It sends the same request each
// time, with the same request id, so that the server does it once. Its errors are Refusals. (gRPC can
// repeat calls by itself, but neither after a deadline nor when the server asks for it.)
func repeat(ctx context.Context, method string, request, answer any, channel *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	giveUp := time.Now().Add(patience)
	for failures := 1; ; failures++ {
		attempt, cancel := context.WithTimeout(ctx, callDeadline)
		err := invoke(attempt, method, request, answer, channel, options...)
		cancel()
		if err == nil {
			return nil
		}
		refusal := refusalOf(err)
		if !refusal.Passing() || time.Now().After(giveUp) {
			return refusal
		}
		if err := refusal.wait(ctx, failures); err != nil {
			return err
		}
	}
}

// A Refusal is a call or a stream that failed, in a form that a program can act upon.
type Refusal struct {
	Code    codes.Code
	Message string
	// Info is nil when the failure is gRPC's own. Its metadata are facts, which error.proto names.
	Info *errdetails.ErrorInfo
	// Reason is ERROR_REASON_UNSPECIFIED without Info, and when it is newer than this client.
	Reason odintable.ErrorReason
	// RetryAfter is how long the server wants to be left alone, or 0.
	RetryAfter time.Duration
}

func refusalOf(err error) *Refusal {
	failed := status.Convert(err)
	refusal := &Refusal{Code: failed.Code(), Message: failed.Message()}
	for _, detail := range failed.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			refusal.Info = detail
			refusal.Reason = odintable.ErrorReason(odintable.ErrorReason_value["ERROR_REASON_"+detail.GetReason()])
		case *errdetails.RetryInfo:
			refusal.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	return refusal
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%v: %s", r.Code, r.Message)
}

// Passing says that the same call may succeed later: the line broke, or the server asks for it. Whether
// a call was carried out before the line broke nobody knows; hence its request id.
func (r *Refusal) Passing() bool {
	switch r.Code {
	case codes.Unavailable, codes.DeadlineExceeded:
		return true
	case codes.Canceled, codes.Internal, codes.Unknown:
		return r.Info == nil // not the server's word, but gRPC's for a stream that was torn off
	}
	return r.RetryAfter > 0
}

// wait waits before the next attempt after so many failures in a row: 0.3 to 3 seconds, spread by
// chance so that clients do not come back all at once, or longer when the server asks for it.
func (r *Refusal) wait(ctx context.Context, failures int) error {
	pause := min(firstPause<<min(failures-1, 10), longestPause)
	pause = max(pause-mathrand.N(pause/3), r.RetryAfter)
	if ctx.Err() == nil {
		log.Printf("%v; trying again in %v", r, pause.Round(time.Millisecond))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}
