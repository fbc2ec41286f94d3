package sitepath

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// This file lists the possible readings of one request path. The members gate judges every such reading: a Worker gets
// the path as the client sent it, and may decode, merge and resolve it as it likes.

// Bounds of [Readings]. Paths of real programs stay below them.
const (
	maxReadings     = 256
	maxReadingBytes = 256 << 10 // of all readings together
)

// steps are the changes that programs make to a path, in any order and any number of times. A step returns the path itself if it changes
// nothing.
var steps = []func(string) string{
	unescapeOnce, mergeSlashes, visible, withoutAuthority, withoutQuery,
	func(path string) string { return resolveDots(path, isDots) },
	func(path string) string { return resolveDots(path, isLooselyDots) },
}

// Readings returns the path as sent (percent-encoded, without its query) and all forms to which programs may change it: escapes decoded,
// also twice, slashes merged, dot segments resolved as RFC 3986 does and as the URL standard and servers of Java and Windows do, characters
// that look like slashes read as slashes, a first segment after two slashes read as a host, a path cut at an encoded "?" or "#", and each
// of that after any other. ok is false when there are more than 256 readings, or more than 256 KiB of them.
func Readings(sent string) (all []string, ok bool) {
	seen, size := map[string]bool{sent: true}, len(sent)
	all = []string{sent}
	for at := 0; at < len(all); at++ {
		for _, step := range steps {
			reading := step(all[at])
			if seen[reading] {
				continue
			}
			if size += len(reading); len(all) == maxReadings || size > maxReadingBytes {
				return nil, false
			}
			seen[reading] = true
			all = append(all, reading)
		}
	}
	return all, true
}

// unescapeOnce decodes each percent-encoded byte. Other text stays.
func unescapeOnce(path string) string {
	if !PercentEncoded.MatchString(path) {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if c, ok := Unescaped(path[i:]); ok {
			b = append(b, c)
			i += 2
			continue
		}
		b = append(b, path[i])
	}
	return string(b)
}

// Unescaped decodes the percent escape at the beginning of a text.
func Unescaped(text string) (c byte, ok bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	high, low := hexValue(text[1]), hexValue(text[2])
	return byte(high<<4 | low), high >= 0 && low >= 0
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// mergeSlashes removes empty segments, except for the last.
func mergeSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b = append(b, path[i])
		}
	}
	return string(b)
}

// slashes are the characters that some program takes for a slash.
const slashes = "/\\⁄∕⧸∖⧵"

// visible is the path without invisible characters, in compatible form, with slashes for all lookalikes. It keeps the case, which matters
// for public routes.
func visible(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool { return r >= 0x7f || r < ' ' || r == '\\' }) {
		return path
	}
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(slashes, r):
			return '/'
		case invisible(r):
			return -1
		}
		return r
	}, norm.NFKC.String(path))
}

func invisible(r rune) bool {
	return unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// withoutAuthority returns the path of an address without a scheme, "/b" for "//a/b": many servers parse the path of a request as an
// address.
func withoutAuthority(path string) string {
	rest, ok := strings.CutPrefix(path, "//")
	if !ok {
		return path
	}
	rest = strings.TrimLeft(rest, "/")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return "/"
}

// withoutQuery cuts a path at a "?" or a "#" that was encoded.
func withoutQuery(path string) string {
	if i := strings.IndexAny(path, "?#"); i > 0 {
		return path[:i]
	}
	return path
}

// isDots reports how many dots a dot segment has, 0 for any other.
func isDots(segment string) int {
	if segment == "." || segment == ".." {
		return len(segment)
	}
	return 0
}

// isLooselyDots is isDots for programs that decode dots first, and drop parameters and spaces at the end of a segment.
func isLooselyDots(segment string) int {
	segment, _, _ = strings.Cut(segment, ";")
	for {
		end := strings.TrimSuffix(strings.TrimRight(segment, " "), "%20")
		if end == segment {
			break
		}
		segment = end
	}
	dots := 0
	for segment != "" && dots < 3 {
		if c, ok := Unescaped(segment); ok && c == '.' {
			segment = segment[3:]
		} else if segment[0] == '.' {
			segment = segment[1:]
		} else {
			return 0
		}
		dots++
	}
	if dots > 2 {
		return 0
	}
	return dots
}

// resolveDots resolves the dot segments of a path. One at the end leaves a slash there.
func resolveDots(path string, dotsIn func(segment string) int) string {
	if !strings.HasPrefix(path, "/") || !anySegment(path, func(s string) bool { return dotsIn(s) > 0 }) {
		return path
	}
	var kept []string
	last := 0
	for segment := range strings.SplitSeq(path[1:], "/") {
		last = dotsIn(segment)
		switch {
		case last == 0:
			kept = append(kept, segment)
		case last == 2 && len(kept) > 0:
			kept = kept[:len(kept)-1]
		}
	}
	if last > 0 {
		kept = append(kept, "")
	}
	return "/" + strings.Join(kept, "/")
}

// ResolveDots resolves the dot segments of a path as the URL standard does, encoded ones too: "/b" for "/a/%2e%2E/b".
func ResolveDots(path string) string {
	return resolveDots(path, func(segment string) int {
		if strings.ContainsAny(segment, "; ") {
			return 0
		}
		return isLooselyDots(segment)
	})
}

// HasLooseDots reports whether some program takes a segment of a decoded path for a dot segment.
func HasLooseDots(path string) bool {
	return anySegment(visible(path), func(s string) bool { return isLooselyDots(s) > 0 })
}

func anySegment(path string, is func(string) bool) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if is(segment) {
			return true
		}
	}
	return false
}
