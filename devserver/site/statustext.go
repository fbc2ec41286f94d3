package site

import "context"

// This file passes the status text of a Worker's response to the connection, since net/http writes only the usual text of a status.

type statusTextKey struct{}

// WithStatusTexts returns the context of a connection that can send its own status texts: set is called before the head of a response is
// written.
func WithStatusTexts(ctx context.Context, set func(status int, text string)) context.Context {
	return context.WithValue(ctx, statusTextKey{}, set)
}

// SetStatusText sets the status text of the response to the request with a [Worker]'s context. It has no effect if the connection cannot
// send one.
func SetStatusText(ctx context.Context, status int, text string) {
	if set, ok := ctx.Value(statusTextKey{}).(func(int, string)); ok {
		set(status, text)
	}
}
