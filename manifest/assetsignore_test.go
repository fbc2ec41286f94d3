package manifest_test

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// ignoredNames are files whose names try every part of a pattern.
var ignoredNames = []string{
	"_server.js/index.js", "_server.js/chunks/a.mjs", "_routes.json", "index.html", "a", "b.txt", "sub/_server.js", "sub/b.txt",
	"sub/deep/b.txt",
	"sub/deep/c.md", "a-b/x", "a]b", "[x]", "#note", "!keep", "with space", "end space ", "star*", "q?", `tab	x`, "é.txt", "ab/ab/ab",
	"z/a/y/b", "build/.keep/x",
	"logs/1.log", "logs/2.log", "logs/keep/3.log", "A", "x0", "x9", "xa", "x-", "foo/bar", "foo/baz/bar",
}

// ignoreFiles are texts of .assetsignore.
var ignoreFiles = []string{
	"_server.js\n_routes.json\n", "/_server.js\n", "_server.js/\n", "*.txt", "/*.txt", "sub/*.txt", "sub/**", "sub/**/b.txt", "**/b.txt",
	"**/deep/", "sub/", "/sub",
	"sub/deep", "deep/b.txt", "*\n!index.html", "*\n!*/\n!*.txt", "logs/*\n!logs/keep/", "logs/\n!logs/1.log", "# a comment\n\\#note",
	"\\!keep", "!keep\n", "with space   ",
	"end\\ space\\ ", "star\\*", "q\\?", "x?", "x[0-9]", "x[!0-9]", "x[^a-z]", "x[[:digit:]]", "x[[:nope:]]", "x[", "x[]", "a[]]b",
	`a[\]]b`, "\\[x]", "[[]x]", "x[z-a]", "x[a-]", "x[--0]",
	"a*b", "a**b", "**", "/**", "foo/**/bar", "foo/**", "**/foo", "**foo", "f?o**/bar", "z/**/**/b", "\r\n*.log\r\n", "\n\n  \n", "/",
	"//a", "a/", "x\\", "ab/ab", "\uFEFFa", "A", "sub//b.txt", "./a",
	"a[/]b", "a[[:punct:]]b", "foo[!x]bar",
}

// TestAssetsIgnore holds the reading of .assetsignore to git's of the same text.
func TestAssetsIgnore(t *testing.T) {
	dir := t.TempDir()
	for _, name := range ignoredNames {
		file := filepath.Join(dir, "public", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{
			"-C", filepath.Join(dir, "public"), "-c", "core.ignorecase=false", "-c",
			"core.excludesFile=" + os.DevNull,
		}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return string(out)
	}
	git("init", "--quiet")
	for _, text := range ignoreFiles {
		file := filepath.Join(dir, "rules")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(git("ls-files", "-z", "--others", "--exclude-from="+file), "\x00"), "\x00")
		want = slices.DeleteFunc(want, func(name string) bool { return name == "" || strings.Contains(name, "/.") })
		got := publicOf(t, text)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q:\nwe serve %q\n     git %q", text, got, want)
		}
	}
}

// publicOf returns the public files of the list above, under rules.
func publicOf(t testing.TB, rules string) []string {
	t.Helper()
	fsys := fstest.MapFS{"public/.assetsignore": &fstest.MapFile{Data: []byte(rules)}}
	for _, name := range ignoredNames {
		fsys["public/"+name] = &fstest.MapFile{}
	}
	names := []string{}
	for e, err := range (publicfiles.Folder{Dir: "public"}).Walk(fsys) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == publicfiles.AssetPublic {
			names = append(names, e.Path)
		}
	}
	slices.Sort(names)
	return names
}

// FuzzAssetsIgnore: with any text, a walk ends and finds no more files than without it.
func FuzzAssetsIgnore(f *testing.F) {
	for _, text := range ignoreFiles {
		f.Add(text)
	}
	all := map[string]bool{}
	for _, name := range publicOf(f, "") {
		all[name] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range publicOf(t, text) {
			if !all[name] {
				t.Errorf("%q makes %q public", text, name)
			}
		}
	})
}

// TestAssetsIgnoreLoad: a Worker or a secret among the assets is accepted if the list excludes it, and an unreadable list is an error.
func TestAssetsIgnoreLoad(t *testing.T) {
	files := map[string]string{
		"pages.deploy.json":        `{"entry":"dist/_worker.js/index.js","assets":"dist","routes":[{"pattern":"/*"}]}`,
		"dist/_worker.js/index.js": "", "dist/index.html": "", "dist/server.pem": "",
	}
	load := func(ignore string) string {
		all := maps.Clone(files)
		if ignore != "" {
			all["dist/.assetsignore"] = ignore
		}
		_, diags := validate.Load(tree(all), "pages.deploy.json")
		return found(diags)
	}
	if got := load(""); !strings.Contains(got, "path_reserved") || !strings.Contains(got, "path_secret") {
		t.Errorf("without .assetsignore: %q", got)
	}
	if got := load("_worker.js\n*.pem\n"); got != "" {
		t.Errorf("with .assetsignore: %q", got)
	}
	if got := load(strings.Repeat("#", 1<<19)); !strings.Contains(got,
		`the public file "dist/.assetsignore" cannot be read: it is longer than`) {
		t.Errorf("a long .assetsignore: %q", got)
	}
	fsys := tree(files)
	fsys["dist/.assetsignore"] = &fstest.MapFile{Mode: fs.ModeDir}
	if _, diags := validate.Load(fsys, "pages.deploy.json"); !strings.Contains(found(diags), "path-unreadable") {
		t.Errorf("a folder called .assetsignore: %s", found(diags))
	}
}
