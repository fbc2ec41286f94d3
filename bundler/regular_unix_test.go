//go:build unix

package bundler

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// imported is a site that reads each of the files.
func imported(t *testing.T) string {
	return site(t, "src/index.ts",
		"import a from './a'; import b from './b.txt'; import c from './c.wasm'; import d from './d.bin'; import e "+
			"from './e.dat' with { type: 'bytes' }; import p from 'p'; export default [a, b, c, d, e, p]",
		"src/a.ts", "export default 1", "src/b.txt", "b", "src/c.wasm", emptyWasm, "src/d.bin", "d", "src/e.dat", "e",
		"src/jsconfig.json", "{}", "tsconfig.json", "{}", "package.json", "{}", "node_modules/p/package.json", "{}",
		"node_modules/p/index.js", "export default 2")
}

// TestIrregular: the build refuses pipes, devices and sockets in place of the Worker's files, without opening them.
func TestIrregular(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"pipe":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"device": func(file string) error { return os.Symlink("/dev/zero", file) },
		"socket": func(file string) error {
			t.Chdir(filepath.Dir(file)) // the name of a socket is a short one
			l, err := net.Listen("unix", filepath.Base(file))
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{
				"src/a.ts", "src/b.txt", "src/c.wasm", "src/d.bin", "src/e.dat", "node_modules/p/index.js",
				"src/jsconfig.json", "tsconfig.json", "package.json",
			} {
				t.Run(file, func(t *testing.T) {
					dir := imported(t)
					b := builder(t, dir, Options{AllowImport: []string{"/dev"}})
					m := manifest.Manifest{Entry: "src/index.ts"}
					build(t, b, m)
					at := filepath.Join(dir, file)
					if err := os.Remove(at); err != nil {
						t.Fatal(err)
					}
					if err := make(at); err != nil {
						t.Fatal(err)
					}
					if _, found := b.Build(t.Context(), &m); len(found) != 1 ||
						!strings.Contains(render(found), "it is not a regular file [replace it with a file") {
						t.Errorf("%s:\n%s", file, render(found))
					}
				})
			}
		})
	}
}

// TestStoppedInAPipe stops a build while esbuild waits for who writes the settings of a package.
func TestStoppedInAPipe(t *testing.T) {
	dir := imported(t)
	pipe := filepath.Join(dir, "node_modules/p/package.json")
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	writer := make(chan *os.File, 1)
	go func() { // opening succeeds once it is read
		f, _ := os.OpenFile(pipe, os.O_WRONLY, 0)
		stop()
		writer <- f
	}()
	b := builder(t, dir, Options{})
	m := manifest.Manifest{Entry: "src/index.ts"}
	if _, found := b.Build(ctx, &m); !strings.Contains(render(found), "the build was stopped") {
		t.Error(render(found))
	}
	_ = (<-writer).Close() // the reader gets no bytes
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "node_modules/p/package.json", "{}")
	build(t, b, m)
}
