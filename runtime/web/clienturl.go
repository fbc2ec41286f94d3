package web

import (
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

const maxOrigins = 64 // Host headers that are remembered

// Origins makes the URLs of clients' requests. The zero value is ready; it is safe for concurrent use.
type Origins struct {
	mu    sync.Mutex
	known map[string]string // by scheme and Host header
}

// URL is the URL of a client's request, as the URL standard writes its target. Nearly all are written that way already: then it
// is put together, not parsed.
func (o *Origins) URL(r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") {
		u := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery}
		target = u.String()
	}
	path, query, hasQuery := strings.Cut(target, "?")
	origin := o.of(r)
	hasDots := strings.Contains(path, "/.") || strings.Contains(strings.ToLower(path), "%2e")
	if origin == "" || !strings.HasPrefix(path, "/") || !isPlain(path, true) || hasDots || !isPlain(query, false) ||
		hasQuery && query == "" {
		return parsedURL(schemeOf(r) + "://" + r.Host + target)
	}
	return origin + target
}

// of is the origin of a request; "" unless its host is a name or an address, with or without a
// port: a parser could read more into it.
func (o *Origins) of(r *http.Request) string {
	key := schemeOf(r) + "://" + r.Host
	o.mu.Lock()
	defer o.mu.Unlock()
	origin, ok := o.known[key]
	if ok {
		return origin
	}
	isHost := r.Host != "" && !strings.ContainsFunc(r.Host, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._:[]", c)
	})
	if isHost {
		if u, err := weburl.Parser.Parse(key); err == nil {
			origin = weburl.Origin(u)
		}
	}
	if o.known == nil {
		o.known = map[string]string{}
	}
	if len(o.known) == maxOrigins { // the usual ones are soon back
		clear(o.known)
	}
	o.known[key] = origin
	return origin
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

func parsedURL(raw string) string {
	if parsed, err := weburl.Parser.Parse(raw); err == nil {
		return parsed.Href(false)
	}
	return raw
}

// isPlain reports whether the standard's parser would leave the bytes of a path or a query unchanged.
func isPlain(s string, quotes bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '\'' && quotes:
		case strings.IndexByte("-_.~!$&()*+,;=:@/%", c) >= 0:
		default:
			return false
		}
	}
	return true
}
