package prose_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/prose"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.go", "package a\n\n// A is what b has.\n", "3: // A is what b has."},
		{"a.go", "package a\n\nvar a = \"nobody\"\n", ""},
		{"a.go", "package a\n\nvar a = \"there is nobody here\"\n", "3: there is nobody here"},
		{"a.go", "package a\n\n/*\nIt is told.\n*/\n", "4: It is told."},
		{"a.go", "package a\n\nvar toldOf = isTold\n", ""},
		{"a.js", "const nobody = 1;\n/** For whoever reads. */\n", "2: /** For whoever reads. */"},
		{"a.js", "  f(); // they shall not pass\n", "1: // they shall not pass"},
		{"a.js", "const a = b / 2; f('it is told');\n", "1: 'it is told'"},
		{"a.js", "f(/[/'\"]/, `a\n${\"it is told\" + `b`}\nis what it is`);\n", "2: \"it is told\"\n3: is what it is`"},
		{"a.ts", "/** idled is for a Worker. */\ntype Nobody = string;\n", "1: /** idled is for a Worker. */"},
		{"a.go", "package a\n\n// errEnd says that it ended.\n", "3: // errEnd says that it ended."},
		{"a.go", "package a\n\n// The log says that it is no longer there.\n", ""},
		{
			"a.go", "package a\n\n// A file that is no text has nothing but it.\n",
			"3: // A file that is no text has nothing but it.\n3: // A file that is no text has nothing but it.",
		},
		{"a.md", "Ask nobody@example.test, or hear of it.\n", "1: Ask nobody@example.test, or hear of it."},
		{"a.txt", "Say where it is, and what to do.\n", ""},
		{"a.md", "It shows what is live, and what changed.\n", "1: It shows what is live, and what changed."},
		{"a.md", "It is for the the author, who had had it.\n", "1: the the"},
		{
			"a.md", "It never lapses; POST /lapse; for ever() and for ever.\n",
			"1: It never lapses; POST /lapse; for ever() and\n1: ; POST /lapse; for ever() and for ever.",
		},
	} {
		var got []string
		for _, f := range prose.Check(c.name, []byte(c.text)) {
			got = append(got, string(rune('0'+f.Line))+": "+f.Text)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s %q: %q", c.name, c.text, got)
		}
	}
}

// exceptions are sentences that need one of the phrases, by file. The list has a bound: most sentences do not.
var exceptions = map[string][]string{
	"CHANGELOG.md":    {"what is there"},
	"CONTRIBUTING.md": {"what is wrong"},
	"cmd/internal/devsession/endpoints_test.go": {"what is answered there"}, // a question
	"cmd/pages/logs.go":                         {"what was logged"},
	"runtime/trace/id.go":                       {"it is no id"},
	"testdata/script/init_adopt.txtar":          {"what is no path"},
	"testdata/script/secrets_output.txtar":      {"this is no file"}, // a file's content
	"toolapi/contract.go":                       {"what is drafted"}, // the platform's description
	"toolapi/service/domain.go":                 {"of nobody,"},      // is in databases
}

const maxExceptions = 20

var extensions = []string{".go", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".md", ".txt", ".txtar", ".html", ".css"}

// TestTree: no text of the project has one of the phrases.
func TestTree(t *testing.T) {
	const root = "../../.."
	used := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case d.IsDir(), name == "STYLE.md", !slices.Contains(extensions, path.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(path.Join(root, name))
		if err != nil {
			return err
		}
		for _, f := range prose.Check(name, text) {
			if slices.ContainsFunc(exceptions[name], func(e string) bool { return strings.Contains(f.Text, e) }) {
				used++
				continue
			}
			t.Errorf("%s:%d: %q: %s", name, f.Line, f.Text, f.Advice)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if used > maxExceptions {
		t.Errorf("%d exceptions, at most %d may be", used, maxExceptions)
	}
}

// skipped reports whether a folder holds texts of others: packages, their data, output of tools. Of the sites only the example is read.
func skipped(name string) bool {
	if path.Dir(name) == "testdata/sites" {
		return path.Base(name) != "riverside"
	}
	switch path.Base(name) {
	case "node_modules", ".git", "bin", "dist", "public", "artifact":
		return true
	}
	return slices.Contains([]string{
		"cmd/tools/prose", "cmd/tools/test262", "runtime/intl/cldr", "runtime/node/testdata",
		"runtime/web/textcodec/testdata",
	}, name)
}
