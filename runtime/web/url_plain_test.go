package web

import "testing"

// FuzzPlainURL holds plainURL to what the package for all URLs says.
func FuzzPlainURL(f *testing.F) {
	for _, s := range plainURLs {
		f.Add(s)
	}
	for _, s := range otherURLs {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := plainURL(s)
		if !ok {
			return
		}
		u, err := parse(s, nil)
		if err != nil {
			t.Fatalf("%q is no URL, and is read as %+v", s, got)
		}
		if want := partsOf(u); got != want {
			t.Errorf("%q\n is %+v\nnot %+v", s, got, want)
		}
	})
}

var (
	plainURLs = []string{
		"https://a.test", "http://a.test/", "https://a-b.c_d.test:8443/x", "http://127.0.0.1:8787/api?x=1", "https://a.test:80/", "http://a.test:443/",
		"https://user1.example.com/a/b/../c?q=1&name=J%20D#part", "https://a.test/..", "https://a.test/.", "https://a.test/a/./", "https://a.test/a/..",
		"https://a.test//../..//", "https://a.test/.../..x/.y/x./..y", "https://a.test/?", "https://a.test/#", "https://a.test?#", "https://a.test?q#f?'",
		"https://a.test/'?a[b]=c|d&e=%zz&f=?/..#/../%", "https://a.test/A//B/@x:y;p=1,2/~(!$)*", "http://1.test/",
	}
	// What needs all the steps.
	otherURLs = []string{
		"", "https://", "https:///a", "https:a.test", "https:/a.test", "HTTPS://a.test", "https://A.test", "ftp://a.test", "ws://a.test", "file:///a", "a:b",
		" https://a.test", "https://a.test ", "https://a.\ttest/", "https://a@b.test/", "https://[::1]/", "https://a.test\\b", "https://a.test/\\b",
		"http://a.test:80/", "https://a.test:443", "https://a.test:/", "https://a.test:080/", "https://a.test:65536/", "https://a.test:8x/",
		"https://a.test./", "https://.a.test/", "https://a..test/", "https://xn--a.test/", "https://a%2ctest/", "https://127.1/", "https://a.0x1/", "https://a.1x/", "https://a.-1/",
		"http://01.2.3.4/", "http://256.1.1.1/", "http://1.2.3/", "https://a.test/%2e%2E/", "https://a.test/a b", "https://a.test/\u00e9", "https://a.test/<",
		"https://a.test/?'", "https://a.test/?\"", "https://a.test/#`", "https://a.test/^", "https://a.test/{}", "https://m\u00fcnchen.test",
	}
)

// TestPlainURL: the common ones are read in one pass, and only these.
func TestPlainURL(t *testing.T) {
	for _, s := range plainURLs {
		if _, ok := plainURL(s); !ok {
			t.Errorf("%q is not taken for plain", s)
		}
	}
	for _, s := range otherURLs {
		if _, ok := plainURL(s); ok {
			t.Errorf("%q is taken for plain", s)
		}
	}
}
