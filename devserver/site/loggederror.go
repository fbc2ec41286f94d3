package site

import (
	"cmp"
	"context"
	"net/http"
	"strings"
)

// This file shows the site's author an error that the Worker logged, if a framework answers the browser with a line of text.

const maxHeldAnswer = 64 << 10 // largest line of text in bytes

// LoggedError goes to [Options.ErrorPage] when a Worker logged an error and answered a browser with a line of text.
type LoggedError struct {
	Line   LogLine
	Status int    // of the response
	Text   string // the response
}

// Error implements error.
func (e *LoggedError) Error() string {
	first, _, _ := strings.Cut(e.Line.Text, "\n")
	return first
}

// SetLogged sets the error that the Worker logged during the request with a [Worker]'s context. The last one before the head of the
// response counts; for another context it has no effect.
func SetLogged(ctx context.Context, line LogLine) {
	if x := exchangeFrom(ctx); x != nil {
		x.logged.Store(&line)
	}
}

// heldAnswer delays a line of text that answers for an error.
type heldAnswer struct {
	http.ResponseWriter

	x       *exchange
	decided bool
	status  int // of the held response, 0 for none
	body    []byte
}

// holdErrors returns a writer for the Worker that delays a response to the author's browser: a line of text after the Worker logged an
// error. It returns nil if there is nothing to delay.
func (x *exchange) holdErrors(w http.ResponseWriter) *heldAnswer {
	if !x.showsHints() || !isNavigation(x.r) || x.site.options.ErrorPage == nil {
		return nil
	}
	return &heldAnswer{ResponseWriter: w, x: x}
}

// Unwrap serves http.ResponseController.
func (a *heldAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *heldAnswer) WriteHeader(status int) {
	if status < 200 && status != http.StatusSwitchingProtocols {
		a.ResponseWriter.WriteHeader(status)
		return
	}
	if a.decided {
		return
	}
	a.decided = true
	kind := strings.ToLower(a.Header().Get("Content-Type"))
	text := (kind == "" || strings.HasPrefix(kind, "text/plain")) && a.Header().Get("Content-Encoding") == ""
	if status >= http.StatusInternalServerError && text && a.x.logged.Load() != nil {
		a.status = status
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (a *heldAnswer) Write(b []byte) (int, error) {
	if !a.decided {
		a.WriteHeader(http.StatusOK)
	}
	if a.status == 0 {
		return a.ResponseWriter.Write(b)
	}
	a.body = append(a.body, b...)
	if len(a.body) > maxHeldAnswer {
		return len(b), a.pass()
	}
	return len(b), nil
}

// FlushError serves http.ResponseController.
func (a *heldAnswer) FlushError() error {
	if a.status != 0 {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// pass sends the delayed response.
func (a *heldAnswer) pass() error {
	a.ResponseWriter.WriteHeader(a.status)
	a.status = 0
	_, err := a.ResponseWriter.Write(a.body)
	a.body = nil
	return err
}

// err returns the error to show instead of the delayed response; nil for none. It is called after the Worker has answered.
func (a *heldAnswer) err() error {
	if a == nil || a.status == 0 {
		return nil
	}
	return &LoggedError{
		Line: *a.x.logged.Load(), Status: a.status, Text: cmp.Or(strings.TrimSpace(string(a.body)), http.StatusText(a.status)),
	}
}
