package site

import "context"

// This file carries the status text of a Worker's response to the connection, past net/http, which writes the usual text of a
// status and no other.

type statusTextKey struct{}

// WithStatusTexts returns the context of a connection that can send a status text of its own: set is called before the head of a
// response is written.
func WithStatusTexts(ctx context.Context, set func(status int, text string)) context.Context {
	return context.WithValue(ctx, statusTextKey{}, set)
}

// SetStatusText sets the status text of the response to the request with a [Worker]'s context. Where the connection can send
// none it does nothing.
func SetStatusText(ctx context.Context, status int, text string) {
	if set, ok := ctx.Value(statusTextKey{}).(func(int, string)); ok {
		set(status, text)
	}
}
