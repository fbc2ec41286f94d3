package cache

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// This file says what a cache shared by many may keep, and for how long (RFC
// 9111, 3 and 4.2), as far as the platform keeps it: Vary counts for nothing, as in
// workerd, but that an answer with * is refused (js/cache.js).

// directives reads a Cache-Control header.
func directives(header http.Header) map[string]string {
	all := map[string]string{}
	for _, line := range header["Cache-Control"] {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			all[strings.ToLower(name)] = strings.Trim(value, `"`)
		}
	}
	return all
}

// isKeptStatus reports whether answers of a status are kept.
func isKeptStatus(status int) bool {
	switch status {
	case 200, 203, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501:
		return true
	}
	return false
}

// freshness is how long an answer may be kept, or why it may not be. It takes
// out of the answer what may not be shared.
func freshness(request http.Header, e *cached, now time.Time) (fresh time.Duration, reason string) {
	header := headerOf(e.header)
	control := directives(header)
	_, noStore := control["no-store"]
	noCache, hasNoCache := control["no-cache"]
	private, isPrivate := control["private"]
	switch {
	case !isKeptStatus(e.status):
		return 0, "answers with status " + strconv.Itoa(e.status) + " are not kept"
	case noStore, hasNoCache && noCache == "", isPrivate && private == "":
		return 0, "its cache-control forbids it"
	case request.Get("Authorization") != "" && !isForAll(control):
		return 0, "the request has an authorization, and cache-control does not say that the answer is public"
	}
	for name := range strings.FieldsSeq(noCache + " " + private) {
		e.header = withoutHeader(e.header, strings.ToLower(name))
	}
	if header = headerOf(e.header); header.Get("Set-Cookie") != "" {
		return 0, "it sets a cookie (cache-control: private=set-cookie would leave that out)"
	}
	if seconds, err := strconv.Atoi(header.Get("Age")); err == nil && seconds > 0 {
		e.age = min(time.Duration(seconds), maxAge) * time.Second
		e.header = withoutHeader(e.header, "age")
	}
	fresh = lifetime(control, header, now) - e.age
	if fresh <= 0 {
		return 0, "no cache-control, expires or last-modified says that it may be kept"
	}
	return fresh, ""
}

// isForAll reports whether an answer to a request with an authorization may be
// given to others (RFC 9111, 3.5).
func isForAll(control map[string]string) bool {
	for _, name := range []string{"public", "s-maxage", "must-revalidate"} {
		if _, found := control[name]; found {
			return true
		}
	}
	return false
}

const (
	maxAge = 10 * 365 * 24 * 3600 // seconds
	// guessed is the part of an answer's age that it is taken to stay as it is
	// when nothing says so (RFC 9111, 4.2.2).
	guessed = 10
)

// lifetime is how long an answer is fresh.
func lifetime(control map[string]string, header http.Header, now time.Time) time.Duration {
	for _, name := range []string{"s-maxage", "max-age"} {
		if value, found := control[name]; found {
			seconds, err := strconv.Atoi(value)
			if err != nil {
				return 0
			}
			return min(time.Duration(seconds), maxAge) * time.Second
		}
	}
	if expires := header.Get("Expires"); expires != "" {
		at, err := http.ParseTime(expires)
		if err != nil {
			return 0
		}
		return min(at.Sub(now), maxAge*time.Second)
	}
	if modified, err := http.ParseTime(header.Get("Last-Modified")); err == nil {
		return now.Sub(modified) / guessed
	}
	return 0
}
