package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// repository writes a small repository without npm packages, so that no test needs a network, and returns its folder.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":                               "module example.test\n",
		"cmd/tools/artifacts/main.go":          "package main\n",
		"runtime/engine/quickjspatch/patch.go": "package quickjspatch\n",
		"runtime/web/package.json":             `{"name": "web", "version": "1.0.0", "private": true}`,
		"runtime/web/package-lock.json": `{"name": "web", "version": "1.0.0", "lockfileVersion": 3, "requires": true,` +
			` "packages": {"": {"name": "web", "version": "1.0.0"}}}`,
		"runtime/prelude.js": "import { add } from './web/js/add.js';\nclass Request { add = add }\n" +
			"export default { start: (a, b) => new Request().add(a, b), name: () => Request.name };\n",
		"runtime/web/js/add.js": "export const add = (a, b) => a + b;\n",
	} {
		write(t, root, path, text)
	}
	return root
}

func write(t *testing.T, root, path, text string) {
	t.Helper()
	file := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// artifactsRun runs the command and returns its exit code and standard error.
func artifactsRun(t *testing.T, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	code := run(ctx, args, &stderr)
	return code, stderr.String()
}

// TestFresh changes one thing at a time after a first run, and checks whether the second run builds the prelude again.
func TestFresh(t *testing.T) {
	testmachine.Long(t)
	remove := func(path string) func(*testing.T, string) {
		return func(t *testing.T, root string) {
			if err := os.RemoveAll(filepath.Join(root, path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(path string) func(*testing.T, string) {
		return func(t *testing.T, root string) {
			old, _ := os.ReadFile(filepath.Join(root, path)) // a new file has no old text
			write(t, root, path, string(old)+"\n")
		}
	}
	for _, c := range []struct {
		name  string
		edit  func(*testing.T, string)
		stale bool
	}{
		{"nothing", func(*testing.T, string) {}, false},
		{"the entry", change("runtime/prelude.js"), true},
		{"an imported module", change("runtime/web/js/add.js"), true},
		{"a module without an importer", change("runtime/web/js/other.js"), false},
		{"a lock file", change("runtime/web/package-lock.json"), true},
		{"go.mod", change("go.mod"), true},
		{"the command", change("cmd/tools/artifacts/main.go"), true},
		{"a new file of the command", change("cmd/tools/artifacts/new.go"), true},
		{"a test of the command", change("cmd/tools/artifacts/main_test.go"), false},
		{"the patch of QuickJS", change("runtime/engine/quickjspatch/patch.go"), true},
		{"the artifact damaged", change("runtime/artifact/prelude.js"), true},
		{"the artifact removed", remove("runtime/artifact"), true},
		{"the stamp removed", remove("runtime/prelude.js.stamp"), true},
		{"the stamp damaged", change("runtime/prelude.js.stamp"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := repository(t)
			if code, stderr := artifactsRun(t, "-C", root, "prelude"); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			c.edit(t, root)
			code, stderr := artifactsRun(t, "-C", root, "prelude")
			if code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if made := strings.Contains(stderr, "made "); made != c.stale {
				t.Errorf("made again = %v, want %v:\n%s", made, c.stale, stderr)
			}
			if code, stderr = artifactsRun(t, "-C", root, "prelude"); !strings.Contains(stderr, "up to date") {
				t.Errorf("a third run: exit %d: %s", code, stderr)
			}
		})
	}
}

// TestPrelude runs the script in Node, as the engine does: its completion
// value is the object of entry points, and names survive.
func TestPrelude(t *testing.T) {
	root := repository(t)
	if code, stderr := artifactsRun(t, "-C", root, "prelude"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	script := `const vm = require("vm"), fs = require("fs");
const o = vm.runInNewContext(fs.readFileSync(process.argv[1], "utf8"), { Request: class {} });
console.log(o.start(2, 3), o.name(), Object.keys(o).join());`
	out, err := exec.CommandContext(t.Context(), "node", "-e", script, filepath.Join(root, "runtime/artifact/prelude.js")).CombinedOutput()
	if got, want := strings.TrimSpace(string(out)), "5 Request start,name"; err != nil || got != want {
		t.Errorf("the script gave %q, %v; want %q", got, err, want)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		args             []string
		code             int
		want             string
	}{
		{
			name: "syntax error", path: "runtime/web/js/add.js", text: "export const add = ;", code: 1,
			want: `runtime/web/js/add.js:1:20: Unexpected ";"`,
		},
		{name: "missing module", path: "runtime/prelude.js", text: "import './none.js'", code: 1, want: `Could not resolve "./none.js"`},
		{
			name: "no default export", path: "runtime/prelude.js", text: "export const start = 1", code: 1,
			want: `No matching export in "runtime/prelude.js" for import "default"`,
		},
		{name: "unknown artifact", args: []string{"preludes"}, code: 2, want: `there is no artifact "preludes"`},
		{name: "unknown flag", args: []string{"-z"}, code: 2, want: "-z"},
		{name: "not the repository", args: []string{"-C", "testdata/none"}, code: 1, want: "is not the repository"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := repository(t)
			if c.path != "" {
				write(t, root, c.path, c.text)
			}
			args := append([]string{"-C", root}, c.args...)
			if c.args == nil {
				args = append(args, "prelude")
			}
			code, stderr := artifactsRun(t, args...)
			if code != c.code || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, want %d; standard error lacks %q:\n%s", code, c.code, c.want, stderr)
			}
		})
	}
}

// TestOneFailureIsNotAll sees the prelude made though QuickJS cannot be.
func TestOneFailureIsNotAll(t *testing.T) {
	root := repository(t)
	code, stderr := artifactsRun(t, "-C", root)
	if code != 1 || !strings.Contains(stderr, "made runtime/artifact/prelude.js") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestNodeEntries: the archive has a fixed order, so that two builds have the same bytes.
func TestNodeEntries(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{
		nodePublic + "/fs.js", nodePublic + "/fs/promises.js", nodePublic + "/notes.txt", nodeInternal + "/absent.js",
		nodePlatform + "/node.js",
	} {
		t.Run(path, func(t *testing.T) {
			write(t, root, path, "export default 1;\n")
		})
	}
	const want = "fs/promises fs internal/absent cloudflare/node"
	for range 50 {
		entries, err := nodeEntries(root)
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.OutputPath
		}
		if got := strings.Join(names, " "); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// TestNewEntry: a file that nothing imports is part of an artifact that begins with all in a folder.
func TestNewEntry(t *testing.T) {
	root := repository(t)
	write(t, root, "out", "made")
	write(t, root, nodePublic+"/fs.js", "")
	if err := writeStamp(root, "stamp", "out", []string{nodePublic + "/fs.js"}); err != nil {
		t.Fatal(err)
	}
	entries := []string{nodePublic + "/*.js", nodePublic + "/*/*.js"}
	if !fresh(root, "stamp", "out", entries) {
		t.Error("it is stale at once")
	}
	write(t, root, nodePublic+"/fs/promises.js", "")
	if fresh(root, "stamp", "out", entries) {
		t.Error("a new file makes nothing stale")
	}
}
