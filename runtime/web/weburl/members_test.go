package weburl

import (
	"strings"
	"testing"
)

// unpacked reads a packed URL as js/url.js does.
func unpacked(packed string) (u urlMembers) {
	width := int(packed[0])
	position := func(i int) (n int) {
		for _, b := range []byte(packed[1+i*width:][:width]) {
			n = n<<7 | int(b)
		}
		return n
	}
	for i, member := range []*string{
		&u.href, &u.protocol, &u.username, &u.password, &u.host, &u.hostname, &u.port, &u.pathname, &u.search, &u.hash, &u.origin,
	} {
		*member = packed[position(2*i):position(2*i+1)]
	}
	return u
}

// FuzzPackedURL: a packed URL reads back, and is ASCII.
func FuzzPackedURL(f *testing.F) {
	for _, s := range append(append(plainURLs, otherURLs...), strangeURLs...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := parse(s, nil)
		if err != nil {
			return
		}
		want := partsOf(u)
		packed := want.pack()
		if plain, ok := readPlain(s, nil); ok {
			if got := string(plain.appendPacked(nil)); got != packed {
				t.Errorf("%q\n is packed as %q\nnot %q", s, got, packed)
			}
		}
		if got := unpacked(packed); got != want {
			t.Errorf("%q\n is %+v\nnot %+v", s, got, want)
		}
		for i := range len(packed) {
			if packed[i] >= 0x80 {
				t.Fatalf("%q: packed with %#x at %d", s, packed[i], i)
			}
		}
	})
}

// strangeURLs have members in unusual places.
var strangeURLs = []string{
	"https://user:pass@a.test:8443/p?q#h", "https://user@a.test", "https://:pass@a.test/", "https://a@b@a.test/",
	"https://http:http@http:81/http?http#http",
	"file:///c:/a?b#c", "file://host/a", "mailto:a@b.test?subject=x#y", "data:text/plain,a?b#c", "a:", "a:?", "a:#", "a:?#", "a:/", "a://",
	"a:///b", "a:/.//b", "a://h",
	"blob:https://a.test/uuid", "blob:https://u:p@a.test:8443/uuid", "blob:a", "javascript:alert(1)", "https://[2001:db8::1]:8443/",
	"non-special://u:p@h:1/p",
	"https://a.test/?" + strings.Repeat("q", 1<<14), "https://u:p@a.test/" + strings.Repeat("p", 1<<14) + "?q#h",
	"https://a.test/" + strings.Repeat("p", 1<<14-110), "https://a.test/" + strings.Repeat("p", 1<<14-60),
	"https://a.test/" + strings.Repeat("p", 1<<7-38), "https://a.test/" + strings.Repeat("p", 1<<7-39),
	"https://a.test/" + strings.Repeat("p", 1<<7-38) + "/..",
}
