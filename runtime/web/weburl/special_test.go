package weburl

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzSpecialURL compares specialURL and specialRef with the parser for all URLs.
func FuzzSpecialURL(f *testing.F) {
	for _, s := range append(append(append(plainURLs, otherURLs...), strangeURLs...), refs...) {
		f.Add(s, "")
		f.Add(s, "https://user:pass@a.test:8443/b/c/d?e=f#g")
		f.Add("https://a.test/"+s, "http://a.test")
	}
	for _, ref := range refs {
		for _, base := range []string{
			"https://a.test", "http://127.0.0.1:8787/a/?x#y", "https://u@a.test/b/?#", "ws://a.test/..//b", "file:///a/b", "a:b",
		} {
			f.Add(ref, base)
		}
	}
	f.Fuzz(compareSpecial)
}

// compareSpecial reads s relative to base, when there is one, in both ways.
func compareSpecial(t *testing.T, s, base string) {
	got, ok := specialURL(s)
	var against *string
	if base != "" {
		got, ok = specialRef(base, s)
		against = &base
	}
	if !ok {
		return
	}
	u, err := parse(s, against)
	if err != nil {
		t.Fatalf("%q against %q is not a URL, and is read as %+v", s, base, got)
	}
	if want := partsOf(u); got != want {
		t.Errorf("%q against %q\n is %+v\nnot %+v", s, base, got, want)
	}
}

// compareWith changes a part of a URL in both ways.
func compareWith(t *testing.T, href, part, value string) {
	got, ok := specialWith(href, part, value)
	if !ok {
		return
	}
	u, err := parse(href, nil)
	if err != nil {
		t.Fatalf("%q is not a URL, and is read as %+v", href, got)
	}
	setters[part](u, value)
	if want := partsOf(u); got != want {
		t.Errorf("%q with the %s %q\n is %+v\nnot %+v", href, part, value, got, want)
	}
}

// TestSpecialURLs reads combinations of all characters with a meaning.
func TestSpecialURLs(t *testing.T) {
	atoms := []string{
		"https:", "http://", "//", "/", "\\", "?", "#", "@", ":", ":80", ":443", ":08", ".", "..", "%2e", "%2E.", "a", "B", "a.test",
		"1.2.3.4", "0x7f.1", "[::1]", "xn--", "\u00fc", "\u00ad",
		" ", "\t", "\n", "\x00", "\x7f", "\"", "'", "<", "^", "`", "{", "|", "%", "%zz", "%41", "&", "=", "+", "\U0001f600", "\xff",
		"\ufffd", "ws", "file:", "blob:", ";",
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteString(atoms[random.IntN(len(atoms))])
		}
		return b.String()
	}
	for range 30_000 {
		host := []string{"a.test", "u:p@a.test:8443", text(4)}[random.IntN(3)]
		site := []string{"http://", "https://", "ws://", "ftp://", "wss:\\\\"}[random.IntN(5)] + host
		compareSpecial(t, site+text(10), "")
		compareSpecial(t, text(6), site+"/"+text(6))
		compareWith(t, site+text(6), []string{"pathname", "search", "hash"}[random.IntN(3)], text(6))
		if t.Failed() {
			return
		}
	}
}

// refs are relative.
var refs = []string{
	"", "#", "?", "#f", "?q#f", "/", "/x", "/x/../y?z", "x", "x/y", "./x", "..", "../x", "../../../x", "//b.test/x", "/\\b.test",
	"\\\\b.test", "\\x", "x:y", "x?y:z",
	" x ", "\t/x\n", "\u00e9", "%2e%2e/x", ".%2E", "x y", "https:x", "https:/x", "https://b.test/x", "HTTPS://B.test", "?\u00e9'\"",
	"#\u00e9`\"",
}

var (
	plainURLs = []string{
		"https://a.test", "http://a.test/", "https://a-b.c_d.test:8443/x", "http://127.0.0.1:8787/api?x=1", "https://a.test:80/",
		"http://a.test:443/",
		"https://user1.example.com/a/b/../c?q=1&name=J%20D#part", "https://a.test/..", "https://a.test/.", "https://a.test/a/./",
		"https://a.test/a/..",
		"https://a.test//../..//", "https://a.test/.../..x/.y/x./..y", "https://a.test/?", "https://a.test/#", "https://a.test?#",
		"https://a.test?q#f?'",
		"https://a.test/'?a[b]=c|d&e=%zz&f=?/..#/../%", "https://a.test/A//B/@x:y;p=1,2/~(!$)*", "http://1.test/",
	}
	// URLs that need all the steps.
	otherURLs = []string{
		"", "https://", "https:///a", "https:a.test", "https:/a.test", "HTTPS://a.test", "https://A.test", "ftp://a.test", "ws://a.test",
		"file:///a", "a:b",
		" https://a.test", "https://a.test ", "https://a.\ttest/", "https://a@b.test/", "https://[::1]/", "https://a.test\\b",
		"https://a.test/\\b",
		"http://a.test:80/", "https://a.test:443", "https://a.test:/", "https://a.test:080/", "https://a.test:65536/", "https://a.test:8x/",
		"https://a.test./", "https://.a.test/", "https://a..test/", "https://xn--a.test/", "https://a%2ctest/", "https://127.1/",
		"https://a.0x1/", "https://a.1x/", "https://a.-1/",
		"http://01.2.3.4/", "http://256.1.1.1/", "http://1.2.3/", "https://a.test/%2e%2E/", "https://a.test/a b", "https://a.test/\u00e9",
		"https://a.test/<",
		"https://a.test/?'", "https://a.test/?\"", "https://a.test/#`", "https://a.test/^", "https://a.test/{}",
		"https://m\u00fcnchen.test",
	}
)

// TestURLsWithoutThePackage: the common ones are read without the package for all URLs.
func TestURLsWithoutThePackage(t *testing.T) {
	for _, s := range plainURLs {
		if _, ok := specialURL(s); !ok {
			t.Errorf("%q is not read", s)
		}
	}
}

// TestLongURL reads megabytes of segments. Other parsers copy the URL once for each segment, which takes minutes.
func TestLongURL(t *testing.T) {
	for _, long := range []string{
		"https://a.test" + strings.Repeat("/a", 1<<20), "HTTPS://u@A.test" + strings.Repeat("\\\u00e9", 1<<20),
		"http://[::1]/" + strings.Repeat("a/../b/%2E/", 1<<18),
	} {
		u, err := readURL(long, nil)
		if err != nil || !strings.HasPrefix(u.href, u.origin[:4]) {
			t.Errorf("%.40s…: %.40s, %v", long, u.href, err)
		}
		if got := unpacked(u.pack()); got != u {
			t.Errorf("%.40s…: packed as another", long)
		}
		if next, err := readURL("../x", &long); err != nil || !strings.HasSuffix(next.pathname, "/x") {
			t.Errorf("%.40s…, ../x: %v", long, err)
		}
	}
}
