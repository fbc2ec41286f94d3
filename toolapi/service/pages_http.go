package service

import (
	"fmt"
	"net/http"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file answers what is not a tool: health, numbers, the interface description
// and what is deprecated.

// serveHealth says whether the service can answer calls.
func (s *Service) serveHealth(x *exchange) {
	err := s.db.read(x.r.Context(), func(t tx) error {
		var n int
		_, err := t.queryOne("SELECT count(*) FROM settings", nil, &n)
		return err
	})
	if err != nil {
		s.log.Error("unhealthy", "error", err.Error())
		s.refuse(x, toolapi.NewError(toolapi.CodeUnavailable, "The database cannot be read."))
		return
	}
	x.reply(http.StatusOK, []byte(`{"ok":true}`+"\n"))
}

func (s *Service) serveOpenAPI(x *exchange) { x.reply(http.StatusOK, s.openAPI) }

// serveDeprecations is where the Link of a deprecated answer leads.
func (s *Service) serveDeprecations(x *exchange) {
	x.Header().Set("Content-Type", "text/html; charset=utf-8")
	x.WriteHeader(http.StatusOK)
	until := toolapi.SunsetDate().Format("2 January 2006")
	fmt.Fprintf(x, `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Deprecations</title>
<h1>Deprecations</h1>
<h2 id="%s">The nested error object of refusals</h2>
<p>Kept until %s at least. Read code, message and retry_after_seconds at the top level.</p>
<h2 id="%s">idempotency_key in the body</h2>
<p>Accepted until %s at least. Send the Idempotency-Key header.</p>
<h2 id="truncated">truncated of content.status</h2>
<p>Page with cursor until next_cursor is absent.</p>
</html>
`, toolapi.NestedError, until, toolapi.BodyKey, until)
}
