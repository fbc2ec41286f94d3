package cache

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has the rules for a shared cache: which responses it may store, and for how long (RFC 9111, 3 and 4.2), as
// far as the platform does: Vary has no effect, as in workerd, except that js/cache.js refuses a response with *.

var cacheableStatus = []int{200, 203, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501} //nolint:gochecknoglobals // a table

// freshness returns how long a response may be stored, or the reason why it may not be. It removes
// the headers that may not be shared.
func freshness(request http.Header, e *cached, now time.Time) (fresh time.Duration, reason string) {
	header := headerOf(e.header)
	control := map[string]string{}
	for _, line := range header["Cache-Control"] {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			control[strings.ToLower(name)] = strings.Trim(value, `"`)
		}
	}
	// RFC 9111, 3.5: whether a response to a request with an authorization may be given to others.
	isForAll := slices.ContainsFunc([]string{"public", "s-maxage", "must-revalidate"}, func(name string) bool {
		_, found := control[name]
		return found
	})
	_, noStore := control["no-store"]
	noCache, hasNoCache := control["no-cache"]
	private, isPrivate := control["private"]
	switch {
	case !slices.Contains(cacheableStatus, e.status):
		return 0, "responses with status " + strconv.Itoa(e.status) + " are not kept"
	case noStore, hasNoCache && noCache == "", isPrivate && private == "":
		return 0, "its cache-control forbids it"
	case request.Get("Authorization") != "" && !isForAll:
		return 0, "the request has an Authorization header, and cache-control does not allow a public response"
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
		return 0, "no cache-control, expires or last-modified permits it"
	}
	return fresh, ""
}

const maxAge = 10 * 365 * 24 * 3600 // seconds

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
		return now.Sub(modified) / 10 // a guess (RFC 9111, 4.2.2)
	}
	return 0
}

func headerOf(flat []string) http.Header {
	header := http.Header{}
	for i := 0; i+1 < len(flat); i += 2 {
		header.Add(flat[i], flat[i+1])
	}
	return header
}

func withoutHeader(flat []string, name string) []string {
	var out []string
	for pair := range slices.Chunk(flat, 2) {
		if pair[0] != name {
			out = append(out, pair...)
		}
	}
	return out
}
