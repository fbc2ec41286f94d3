package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// This file puts what a published page's Worker logs into the log of the service,
// without the page's secrets.

// shortestSecret is how long a secret must be to be masked: shorter ones nobody can keep,
// and words would lose their letters.
const shortestSecret = 4

// maskOf takes the values of secrets out of texts, also where a text holds them as JSON,
// in an address, in base64, or one line of several. A name stands in their place.
func maskOf(secrets map[string]string) *strings.Replacer {
	names := map[string]string{} // by form of the value
	for name, value := range secrets {
		for _, form := range formsOf(value) {
			if len(form) >= shortestSecret {
				names[form] = name
			}
		}
	}
	var pairs []string
	for form := range names {
		pairs = append(pairs, form)
	}
	// The longest first: one secret may be part of another.
	slices.SortFunc(pairs, func(a, b string) int { return len(b) - len(a) })
	var all []string
	for _, form := range pairs {
		all = append(all, form, "[secret "+names[form]+"]")
	}
	return strings.NewReplacer(all...)
}

// inAddress are what encodeURIComponent writes otherwise than url.QueryEscape.
var inAddress = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// formsOf are the ways in which a text may hold a value.
func formsOf(value string) []string {
	forms := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	forms = append(forms, value, url.QueryEscape(value), inAddress.Replace(url.QueryEscape(value)), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)))
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err == nil {
		forms = append(forms, strings.TrimSuffix(quoted.String()[1:], "\"\n"))
	}
	return forms
}

// consoleOf logs the lines of a release's Worker. ctx is that of lines which no request is
// behind.
func consoleOf(ctx context.Context, logger *slog.Logger, r service.Release, mask *strings.Replacer) func(pagesruntime.Line) {
	logger = logger.With("page", r.Name, "revision", r.Revision)
	if r.Preview {
		logger = logger.With("preview", true)
	}
	return func(l pagesruntime.Line) {
		level, ok := map[string]slog.Level{"debug": slog.LevelDebug, "trace": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[l.Level]
		if !ok {
			level = slog.LevelInfo
		}
		attributes := []slog.Attr{slog.String("text", mask.Replace(l.Text))}
		if len(l.Frames) > 0 {
			f := l.Frames[0]
			attributes = append(attributes, slog.String("at", fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)))
		}
		ctx := ctx
		if l.Request != nil {
			ctx = l.Request.Context()
			attributes = append(attributes, slog.String("method", l.Request.Method), slog.String("path", mask.Replace(l.Request.URL.EscapedPath())))
		}
		logger.LogAttrs(ctx, level, "console", attributes...)
	}
}
