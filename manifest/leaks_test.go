package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestMembersText finds text of members' pages in public files.
func TestMembersText(t *testing.T) {
	const (
		page = "<!doctype html><title>Minutes</title><nav><a href=/>The home of our rowing club</a></nav><main><h1>Minutes of the " +
			"board in May</h1>" +
			"<p>The treasurer reports a gap of four thousand in this year's books.</p><p>Kim's proposal to sell the old quad scull " +
			"was carried by five votes.</p>" +
			"<script>const inline = 'no check looks for the words of a script';</script></main>"
		first, second = "reports a gap of four thousand in this year", "proposal to sell the old quad scull was carried by five votes"
		data          = `{"minutes":["The treasurer ` + first + `\u0027s books.","` + second + `"]}`
	)
	other := strings.NewReplacer("treasurer", "caretaker", "four thousand", "three litres of oil", "old quad scull",
		"new rescue launch").Replace(page)
	for name, c := range map[string]struct {
		files []string
		want  []string
	}{
		"none": {files: nil},
		"the script of the page": {
			[]string{"p/app.js", `e("<p>The treasurer ` + first + `\'s books.</p><p>` + second + `.</p>")`},
			[]string{`"p/app.js" holds text of the members page "club/minutes.html"`},
		},
		"the index of the search": {
			[]string{"p/search/index.json", data},
			[]string{`"p/search/index.json" holds text of the members page "club/minutes.html"`},
		},
		"in capitals": {[]string{"p/DATA.JSON", data}, []string{`"p/DATA.JSON" holds`}},
		"of two pages": {
			[]string{"p/club/launch.html", other, "p/all.txt", page + other},
			[]string{`"p/all.txt" holds text of 2 members pages, "club/launch.html" among them`},
		},
		"two files":                  {[]string{"p/a.js", data, "p/b.xml", data}, []string{`"p/a.js"`, `"p/b.xml"`}},
		"a single sentence":          {[]string{"p/a.js", first}, nil},
		"the same sentence twice":    {[]string{"p/a.js", second + "\n" + second}, nil},
		"text of every page":         {[]string{"p/club/again.html", page, "p/a.js", data}, nil},
		"what a public page says":    {[]string{"p/news.html", page, "p/a.js", data}, nil},
		"for members as well":        {[]string{"p/club/data.json", data}, nil},
		"words of the page's script": {[]string{"p/a.js", "no check looks for the words of a script"}, nil},
		"an image":                   {[]string{"p/a.png", data}, nil},
		"within longer words":        {[]string{"p/a.js", "x" + strings.ReplaceAll(data, " ", "x ")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			files := append([]string{"p/index.html", "<nav>The home of our rowing club</nav>", "p/club/minutes.html", page}, c.files...)
			got := membersText(t, `{"assets":"p","routes":[{"pattern":"/club/*","access":"members"}]}`, files...)
			if len(got) != len(c.want) {
				t.Errorf("%s: %q", name, got)
				return
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("%s: %q, want %q", name, got[i], want)
				}
			}
		})
	}
	if got := membersText(t, `{"assets":"p","routes":[{"pattern":"/other/*","access":"members"}]}`, "p/club/minutes.html", page, "p/a.js",
		data); len(got) != 0 {
		t.Errorf("a page for everybody: %q", got)
	}
	japanese := "理事会の議事録は会員だけが読むことができる文書である"
	if got := membersText(t, `{"assets":"p","routes":[{"pattern":"/club","access":"members"}]}`, "p/club.html", "<p>"+japanese, "p/a.json",
		`["`+japanese+`"]`); len(got) != 1 {
		t.Errorf("without spaces: %q", got)
	}
}

// TestMembersTextBounds: a long list of files is reported as a count, and reads are bounded.
func TestMembersTextBounds(t *testing.T) {
	const sentence = "The key of the boat house hangs behind the blue door."
	files := []string{"p/club/index.html", "<p>" + sentence}
	for i := range 25 {
		files = append(files, fmt.Sprintf("p/%02d.js", i), sentence)
	}
	const members = `{"assets":"p","routes":[{"pattern":"/club/*","access":"members"}]}`
	got := membersText(t, members, files...)
	if len(got) != 21 || !slices.ContainsFunc(got,
		func(m string) bool { return strings.Contains(m, "5 more public files with text of members pages") }) {
		t.Errorf("%d warnings: %q", len(got), got)
	}
	files = []string{"p/club/index.html", "<p>" + sentence, "p/a.js", strings.Repeat("The key of the boat ", 5<<20)}
	began := time.Now()
	if got := membersText(t, members, files...); len(got) != 0 {
		t.Errorf("%q", got)
	}
	t.Log("a hundred megabytes of near misses took", time.Since(began))
}

// membersText loads a site and returns the warnings of members' texts.
func membersText(t *testing.T, text string, files ...string) (all []string) {
	t.Helper()
	_, found := validate.Load(site(text, files...), manifest.FileName)
	for _, d := range found {
		if d.Code == "asset-members-text" {
			all = append(all, d.Message)
		}
	}
	return all
}
