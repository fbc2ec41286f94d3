package fetch

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

const maxRedirects = 20 // the Fetch standard's

var redirectStatus = []int{ //nolint:gochecknoglobals // a table
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

// Follow makes the requests of a fetch, each by hop, until no redirect is left to follow.
func (s *Session) Follow(f *Outbound, hop func(*Outbound) (*http.Response, error)) (resp *http.Response, redirected bool, err error) {
	if strings.HasPrefix(f.url, "data:") {
		kind, body, ok := dataURL(f.url)
		if !ok {
			return nil, false, engine.TypeError("Fetch API cannot load: %.80s (the data: URL is malformed)", f.url)
		}
		return &http.Response{
			Status: "200 OK", StatusCode: http.StatusOK,
			Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)),
		}, false, nil
	}
	for hops := 0; ; hops++ {
		if err := s.Count(); err != nil {
			return nil, false, err
		}
		span := s.startSpan(f, hops)
		resp, err := hop(f)
		endSpan(span, resp, err)
		if err != nil {
			return nil, false, err
		}
		if resp.StatusCode < http.StatusContinue { // net/http takes any three digits
			closeQuietly(resp.Body)
			return nil, false, engine.ConnectionLost("fetch to %q failed: malformed HTTP status code %03d", f.url, resp.StatusCode)
		}
		locations := resp.Header["Location"] // without one, a redirect status is like any other
		if !slices.Contains(redirectStatus, resp.StatusCode) || len(locations) == 0 || f.redirect == "manual" {
			return resp, hops > 0, nil
		}
		closeQuietly(resp.Body)
		if f.redirect == "error" {
			return nil, false, engine.TypeError("fetch to %q was redirected, and redirect is \"error\"", f.url)
		}
		if hops == maxRedirects {
			return nil, false, engine.TypeError("Too many redirects: fetch followed %d", maxRedirects)
		}
		if err := f.moveTo(resp.StatusCode, escaped(locations[0])); err != nil {
			return nil, false, err
		}
	}
}

// escaped returns the text of a Location: if its bytes are not UTF-8, each byte beyond ASCII becomes an escape such as "%FF".
func escaped(location string) string {
	if utf8.ValidString(location) {
		return location
	}
	var out strings.Builder
	for _, b := range []byte(location) {
		if b < utf8.RuneSelf {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

func (s *Session) hop(f *Outbound) (*http.Response, error) {
	r, err := f.newRequest()
	if err != nil {
		return nil, err
	}
	switch r.URL.Scheme {
	case "http", "https":
	default:
		return nil, engine.TypeError("Fetch API cannot load: %s (only http: and https: URLs can be fetched)", f.url)
	}
	if s.client.isSelf(r.URL) {
		return s.fetchSelf(r)
	}
	return s.client.send(r)
}

// moveTo turns the fetch to a redirect's target (Fetch standard, 4.5).
func (f *Outbound) moveTo(status int, location string) error {
	from, err := weburl.Parser.Parse(f.url)
	if err != nil {
		return err
	}
	to, err := from.Parse(location)
	if err != nil {
		return engine.TypeError("fetch to %q was redirected to a malformed URL: %q", f.url, location)
	}
	if to.Scheme() != "http" && to.Scheme() != "https" {
		return engine.TypeError("fetch to %q was redirected to %q, which is neither http: nor https:", f.url, location)
	}
	if to.Fragment() == "" && from.Fragment() != "" {
		to.SetHash(from.Fragment())
	}
	becomesGet := f.method == http.MethodPost && (status == http.StatusMovedPermanently || status == http.StatusFound) ||
		status == http.StatusSeeOther && f.method != http.MethodGet && f.method != http.MethodHead
	switch {
	case becomesGet:
		f.method, f.whole, f.stream = http.MethodGet, nil, nil
		f.header = withoutHeaders(f.header, "content-encoding", "content-language", "content-location", "content-type", "content-length")
	case f.stream != nil:
		return engine.TypeError(
			"fetch to %q was redirected with status %d, but its body is a stream, which cannot be sent again", f.url, status,
		)
	}
	if weburl.Origin(from) != weburl.Origin(to) {
		f.header = withoutHeaders(f.header, "authorization", "cookie", "proxy-authorization")
	}
	f.url = to.Href(false)
	return nil
}

func withoutHeaders(list []string, names ...string) []string {
	kept := list[:0:0]
	for i := 0; i+1 < len(list); i += 2 {
		if !slices.Contains(names, strings.ToLower(list[i])) {
			kept = append(kept, list[i], list[i+1])
		}
	}
	return kept
}
