package htmllinks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/htmllinks"
)

func TestRead(t *testing.T) {
	for page, want := range map[string]string{
		`<!doctype html><a href="/a?b#c">`:                                       "0 /a",
		`<!doctype html><a href=b>, <a href="../c d">, <a href=%2561>`:           "0 /docs/b, 0 /c d, 0 /docs/%61",
		`<!doctype html><a href=b#1><a href=b#2>`:                                "0 /docs/b, 0 /docs/b",
		`<html lang=en><area href=b>`:                                            "0 /docs/b",
		`<base href=/x/><a href=b>`:                                              "0 /x/b",
		`<!doctype html><base href=x/><base href=/y/><a href=b>`:                 "0 /docs/x/b",
		`<!doctype html><a href=b><base href=https://other.example/><a href=/c>`: "",
		`<a href=b><a href=/c>`:                                                  "0 /c", // a part of other pages
		`<!doctype html><a href='\c'><a href=" /d
"><a href="//other.example/"><a href="https://other.example/"><a href="mailto:a@b"><a href="javascript:x()">`: "0 /c, 0 /d",
		`<!doctype html><a href=""><a href="#x"><a href="?x"><a>`:                                                             "",
		`<a href="/100%"><a href="/:1"><a href="http://["> <a href="a:b">`:                                                    "0 /:1",
		`<a href="/{{url}}"><a href="/${x}"><a href="/<%= x %>"><a href="/%7Bx%7D"><a href="/[[x]]">`:                         "",
		`<form action=/s></form><form action=/p method=post></form><form method=GET action=/g><form action=/d method=dialog>`: "1 /s, 1 /g",
		`<link rel="Stylesheet" href=/s.css><link rel=preconnect href=/p><link rel=canonical href=/c><link href=/h>`:          "2 /s.css",

		`<img src=/i.png poster=/n.png><script src=/s.js></script>`: "2 /i.png, 2 /s.js",
		`<iframe src=/f></iframe>`:                                  "2 /f",
		`<video src=/v poster=/p.png>`:                              "2 /v, 2 /p.png",
		`<object data=/o><embed src=/e><audio src=/a>`:              "2 /o, 2 /e, 2 /a",
		`<source src=/b><track src=/t>`:                             "2 /b, 2 /t",
		`<!-- <a href=/a> --><script>"<a href=/b>"</script><style><a href=/c></style><textarea><a href=/d></textarea>`: "",
		`<noscript><a href=/a></noscript><template><a href=/b><template></template><a href=/c></template><a href=/d>`:  "0 /d",
		`</template><A HREF=/a HREF=/b>`: "0 /a",
	} {
		var got []string
		for _, link := range htmllinks.Read([]byte(page), "/docs/page.html") {
			got = append(got, fmt.Sprintf("%d %s", link.Kind, link.Path))
			if tag := page[link.At.Start:link.At.End]; !strings.HasPrefix(tag, "<") || !strings.HasSuffix(tag, ">") {
				t.Errorf("%s: the place is %q", page, tag)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s:\n got %s\nwant %s", page, strings.Join(got, ", "), want)
		}
	}
	for page, want := range map[string]int{
		`<!doctype html><a href=b><a href=/c>`:                1,
		`<!doctype html><base href=/x/><a href=b><a href=/c>`: 2,
		`<!doctype html><base href=x/><a href=b><a href=/c>`:  1,
	} {
		if got := len(htmllinks.Read([]byte(page), "")); got != want {
			t.Errorf("%s, shown at many paths: %d links, want %d", page, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("<!doctype html><base href=//x><a href=../b?c><template><img src=d></template><form action='/e'>"), "/docs/page.html")
	f.Fuzz(func(t *testing.T, page []byte, path string) {
		for _, link := range htmllinks.Read(page, path) {
			if link.At.Start < 0 || link.At.End > len(page) || link.At.Start >= link.At.End || page[link.At.Start] != '<' {
				t.Errorf("%q: %+v", page, link)
			}
		}
	})
}
