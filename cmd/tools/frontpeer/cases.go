package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// names are the files of the site.
var names = []string{
	"index.html", "404.html", "about.html", "docs/index.html", "docs/guide.html", "docs/404.html", "both.html", "both/index.html",
	"plain", "plain.html", "a.txt", "a b.txt", "café.html", "deep/er/est/page.html", "deep/index.html", "x.tar.gz", "UPPER.html",
	"dot.name.html", "1+1.html", "q&a.html", "semi;colon.txt", "at@home.txt", "co,mma.txt", "sub/sub.html", "sub/index.html",
	"index/index.html", "nothing/here.txt", "100.html", "~tilde.txt", "(paren).txt", "app/index.html", "assets/main.css",
}

// rules are the lines of "_redirects".
var rules = func() (all []string) {
	for i, to := range []string{
		"/about 301", "/about 302", "/about 303", "/about 307", "/about 308", "/about", "/docs/ 301", "/about?x=1 301",
		"/about#top 301", "/about?x=1#top 302", "https://other.example/in 301", "https://other.example/in?x=1 302", "/none 301",
		"/about 200", "/about.html 200", "/docs 200", "/docs/ 200", "/docs/guide 200", "/docs/guide.html 200", "/none 200",
		"/a.txt 200", "/docs/index.html 200", "/index.html 200", "/both 200", "/both/ 200", "/plain 200", "/café 200", "/café 301",
		"/x.tar.gz 200", "/deep/er/est/page 200",
	} {
		all = append(all, fmt.Sprintf("/s%d %s", i, to))
	}
	for i, to := range []string{
		"/:splat 301", "/:splat 302", "/docs/:splat 301", "https://other.example/:splat 301", "/:splat 200", "/docs/:splat 200",
		"/docs/:splat.html 200", "/?p=:splat 301", "/about 301", "/about 200",
	} {
		all = append(all, fmt.Sprintf("/d%d/* %s", i, to))
	}
	for i, to := range []string{
		"/:b/:a 301", "/:a 200", "/docs/:b 200", "/docs/:b?a=:a 301", "https://other.example/:a/:b 302", "/:a-:b 301", "/:a/:c 301",
	} {
		all = append(all, fmt.Sprintf("/p%d/:a/:b %s", i, to))
	}
	return append(all,
		"/f0/*/ /:splat 301", "/f1/:x.html /:x 301", "/f2* /about 301", "/f3/:a* /:a 301", "/café/neu /about 301", "/sp%20ace /about 301",
		"/about/team /about 301", "/docs/old /docs/guide 301", "/assets/old.css /assets/main.css 200", "/A /about 301",
		"/app1/* /app/index.html 200", "/app2/* /index.html 200", "/a.txt/x /a.txt 302", "/both/x /both 301")
}()

// paths are the targets of the requests to both.
func paths() (all []string) {
	for _, name := range names {
		name = strings.NewReplacer(" ", "%20", "é", "%C3%A9").Replace(name)
		short := strings.TrimSuffix(name, ".html")
		all = append(all, "/"+name, "/"+short, "/"+short+"/", "/"+strings.TrimSuffix(short, "index"), "/"+short+"/index",
			"/"+short+"/index.html", "/"+short+".html?q=1")
	}
	for _, rule := range rules {
		from, _, _ := strings.Cut(rule, " ")
		from = strings.ReplaceAll(from, "é", "%C3%A9")
		from = strings.NewReplacer(":a", "docs", ":b", "guide", ":x", "about").Replace(from)
		if strings.Contains(from, "*") {
			all = append(all, strings.Replace(from, "*", "about", 1), strings.Replace(from, "*", "", 1),
				strings.Replace(from, "*", "docs/guide?k=v", 1))
			continue
		}
		all = append(all, from, from+"?k=v", from+"/")
	}
	all = append(all, "/none", "/docs/none", "/deep/none/x", "/%61bout", "/about%2F", "/docs%2Fguide", "//about", "/docs//guide",
		"/docs/./guide", "/docs/../about", "/docs/%2e%2e/about", "/%2e/about", "/about%00", "/about%", "/about%zz", "/100%25", "/ABOUT",
		"/upper", "/_redirects", "/_headers", "/caf%c3%a9", "/cafe%CC%81", "/a%20b.txt", "/a+b.txt", "/1%2B1", "/q%26a",
		"/semi%3Bcolon.txt", "/at%40home.txt", "/?x", "/?", "/index.html?x=1", "/docs?x=1", "/about/?x=1", "/about;x",
		"/about.", "/a.txt?download")
	slices.Sort(all)
	return slices.Compact(all)
}

// listed are the known differences, by rows of runtime/DIFFERENCES.md.
var listed = []struct {
	path *regexp.Regexp
	row  string
}{
	{regexp.MustCompile(`^/app[12]/`), "`/* /index.html 200` and `/app/* /index.html 200` in `_redirects`"},
	{regexp.MustCompile(`%00|%$|%zz`), "paths with controls such as `%00`"},
	{regexp.MustCompile(`%61|[+&;@,]|%c3|%CC`), "a path that is encoded otherwise than JavaScript would"},
	{regexp.MustCompile(`/index(/|/index|/index.html)$`), "`/docs/index/` and the like"},
}

// rowOf returns the row about a difference at a path, "" for none.
func rowOf(path string) string {
	for _, l := range listed {
		if l.path.MatchString(path) {
			return l.row
		}
	}
	return ""
}
