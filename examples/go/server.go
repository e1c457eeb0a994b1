// One connection to one server: credential, deadlines, safe repeats.

package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	mathrand "math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"example.com/odin-table-go/odintable"
)

const (
	// callDeadline ends one attempt of a call, patience all its attempts together. A dead line is
	// noticed after 30 s (see Dial), so patience is longer than that.
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

// Dial prepares a connection to HOST:PORT, with a new credential. Nothing is sent yet.
func Dial(address string) (*Server, error) {
	channel, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(newCredential()),
		grpc.WithUnaryInterceptor(repeat),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 20 * time.Second, Timeout: 10 * time.Second, PermitWithoutStream: true,
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
	return &Server{
		Lobby:   odintable.NewLobbyServiceClient(channel),
		Play:    odintable.NewPlayServiceClient(channel),
		channel: channel,
	}, nil
}

// Close ends the connection. The seat is kept.
func (s *Server) Close() error {
	return s.channel.Close()
}

// A credential says who is asking. Whoever holds it holds the seat: a client that wants its seat
// back after a restart keeps it in a file that only its owner may read.
type credential [32]byte

func newCredential() credential {
	var made credential
	rand.Read(made[:]) // never fails
	return made
}

func (c credential) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{
		"authorization":       "Bearer " + base64.RawURLEncoding.EncodeToString(c[:]),
		"odin-table-revision": "1",
	}, nil
}

func (credential) RequireTransportSecurity() bool {
	return false
}

// newRequestID names one request: whatever changes something carries one, and repeats it.
func newRequestID() string {
	return rand.Text()
}

// repeat makes a call, again and again while it may still succeed. It sends the same request each
// time, with the same request id, so that the server does it once. Its errors are Refusals.
func repeat(ctx context.Context, method string, request, answer any, channel *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	giveUp := time.Now().Add(patience)
	for attempt := 1; ; attempt++ {
		once, cancel := context.WithTimeout(ctx, callDeadline)
		err := invoke(once, method, request, answer, channel, options...)
		cancel()
		if err == nil {
			return nil
		}
		refusal := refusalOf(err)
		pause := pauseAfter(attempt, refusal.RetryAfter)
		if !refusal.Passing() || time.Now().Add(pause).After(giveUp) {
			return refusal
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// pauseAfter is how long to wait after so many failures in a row: 0.3 to 3 seconds, spread by
// chance so that clients do not come back all at once, or longer when the server asks for it.
func pauseAfter(failures int, asked time.Duration) time.Duration {
	pause := min(firstPause<<min(failures-1, 10), longestPause)
	pause -= mathrand.N(pause / 3)
	return max(pause, asked)
}

// sleep waits, or returns the error of a context that ends before.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
