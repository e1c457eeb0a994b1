// Why the server refused a call, in a form that a program can act upon.

package main

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/odin-table-go/odintable"
)

// A Refusal is a call that failed, with or without details. It has changed nothing, unless Lost.
type Refusal struct {
	Code codes.Code
	// Reason is ERROR_REASON_UNSPECIFIED when the failure is gRPC's own, or newer than this client.
	Reason odintable.ErrorReason
	// Message is for people.
	Message string
	// Facts go with the reason; error.proto names them.
	Facts map[string]string
	// RetryAfter is how long the server wants to be left alone, or 0.
	RetryAfter time.Duration
}

// refusalOf reads the status of a failed call, and the details that came with it.
func refusalOf(err error) *Refusal {
	answer := status.Convert(err)
	refusal := &Refusal{Code: answer.Code(), Message: answer.Message()}
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			name := "ERROR_REASON_" + detail.GetReason()
			refusal.Reason = odintable.ErrorReason(odintable.ErrorReason_value[name])
			refusal.Facts = detail.GetMetadata()
		case *errdetails.RetryInfo:
			refusal.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	return refusal
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("%v: %s", r.Code, r.Message)
	if len(r.Facts) > 0 {
		text += fmt.Sprintf(" %v", r.Facts)
	}
	return text
}

// Lost says that nobody knows whether the call was carried out: repeat it with its request id.
func (r *Refusal) Lost() bool {
	return r.Code == codes.Unavailable || r.Code == codes.DeadlineExceeded
}

// Passing says that the same call may well succeed later.
func (r *Refusal) Passing() bool {
	return r.Lost() || r.Code == codes.ResourceExhausted && r.RetryAfter > 0
}
