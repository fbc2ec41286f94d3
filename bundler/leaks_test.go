package bundler

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

const leakedKey = "rk_test_4f3c2b1a09f8e7d6c5b4a3f2e1d0c9b8"

func newSecrets(value string) func() *secretscan.Set {
	set := secretscan.New([]secretscan.Secret{{Name: "KEY", Value: value}}, secretscan.Options{})
	return func() *secretscan.Set { return set }
}

// TestLeaks: a secret is found in every published file, and no message about it contains it.
func TestLeaks(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("a\n" + leakedKey)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const worker = "export default { fetch() { return new Response(key) } }\n"
	for name, c := range map[string]struct {
		files []string // beside the manifest
		want  string   // "" for nothing
	}{
		"a literal": {
			[]string{"index.ts", "// é\nconst key: string = '" + leakedKey + "';\n" + worker},
			"index.ts:2:22: this file of the Worker holds the secret KEY",
		},
		"a comment": {
			[]string{"index.ts", "const key = 1; // " + leakedKey + "\n" + worker},
			"index.ts:1:19: this file of the Worker holds the secret KEY",
		},
		"put together": {
			[]string{"index.ts", "const a = 1;\nconst key = 'rk_test_4f3c2b1a' + '09f8e7d6c5b4a3f2e1d0c9b8';\n" + worker},
			"index.ts:",
		},
		"JSON": {
			[]string{"index.ts", "import key from './a.json';\n" + worker, "a.json", "{\n \"key\": \"" + leakedKey + "\"}"},
			"a.json:2:10: this file of the Worker holds the secret KEY",
		},
		"a data file": {
			[]string{"index.ts", "import key from './a.bin';\n" + worker, "a.bin", "\x00\x01" + leakedKey + "\xff"},
			"a.bin:1:",
		},
		"a module": {
			[]string{"index.ts", "import key from './a.wasm';\n" + worker, "a.wasm", "\x00asm\x01\x00\x00\x00" + leakedKey},
			"a.wasm:0:0: this module of the Worker holds the secret KEY, 8 bytes from its start",
		},
		"a migration": {
			[]string{"migrations/1.sql", "-- x\n-- " + leakedKey},
			"migrations/1.sql:2:4: this migration holds the secret KEY",
		},
		"a page": {
			[]string{"public/a.html", "\ufeff<b>é" + leakedKey},
			"public/a.html:1:5: this public file holds the secret KEY",
		},
		"base64 in a script": {
			[]string{"public/a.js", "atob('" + base64.StdEncoding.EncodeToString([]byte(leakedKey)) + "')"},
			"public/a.js:1:7: this public file holds base64 of KEY",
		},
		"an image": {
			[]string{"public/a.png", "\x89PNG\r\n\x1a\n\x00\x00" + leakedKey},
			"public/a.png:0:0: this public file holds the secret KEY, 10 bytes from its start",
		},
		"a packed page": {
			[]string{"public/a.js.gz", packed.String()},
			"public/a.js.gz:0:0: this compressed public file holds the secret KEY",
		},
		"far from the start": {
			[]string{"public/a.txt", strings.Repeat("line\n", 40_000) + leakedKey},
			"public/a.txt:40001:1: this public file holds the secret KEY",
		},
		"over a border": {
			[]string{"public/a.txt", strings.Repeat("x", 64<<10-10) + leakedKey},
			"public/a.txt:1:65527: this public file holds the secret KEY",
		},
		"several times": {
			[]string{"public/a.txt", leakedKey + " " + leakedKey + " " + leakedKey},
			"public/a.txt:1:1: this public file holds the secret KEY, here and 2 more times",
		},
		"files that are not public": {[]string{"public/.hidden", leakedKey, "public/.dev.vars", leakedKey, "other.txt", leakedKey}, ""},
		"a value that is not there": {[]string{"public/a.txt", leakedKey[:30], "index.ts", "const key = 1\n" + worker}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := site(t, append([]string{"public/index.html", "<p>", "migrations/0.sql", "SELECT 1;"}, c.files...)...)
			m := &manifest.Manifest{Assets: "public"}
			m.Bindings.Database = &manifest.Database{Migrations: "migrations"}
			if _, err := os.Stat(filepath.Join(dir, "index.ts")); err == nil {
				m.Entry = "index.ts"
			}
			bundle, found := builder(t, dir, Options{Secrets: newSecrets(leakedKey), Minify: true}).Build(t.Context(), m)
			var got []string
			for _, d := range found {
				if d.Code == "secret-in-output" {
					got = append(got, fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, d.Message))
				}
				if said := fmt.Sprintf("%+v", d); strings.Contains(said, leakedKey[10:20]) ||
					strings.Contains(said, base64.StdEncoding.EncodeToString([]byte(leakedKey))[:20]) {
					t.Errorf("it shows the value: %s", said)
				}
			}
			switch {
			case c.want == "" && (len(got) > 0 || bundle == nil):
				t.Errorf("got %v", found)
			case c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want) || bundle != nil):
				t.Errorf("got %q, want %q", got, c.want)
			}
			if _, plain := builder(t, dir, Options{}).Build(t.Context(), m); plain.HasErrors() {
				t.Errorf("without secrets: %v", plain)
			}
		})
	}
}

// TestLeaksAreKept: an unchanged file is not read again and keeps its findings; with other secrets it is read again.
func TestLeaksAreKept(t *testing.T) {
	dir := site(t, "public/a.txt", leakedKey)
	file := filepath.Join(dir, "public", "a.txt")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	secrets := newSecrets("rk_test_00f3c2b1a09f8e7d6c5b4a3f2e1d0c9b")
	b := builder(t, dir, Options{Secrets: func() *secretscan.Set { return secrets() }})
	m := &manifest.Manifest{Assets: "public"}
	for step, c := range []struct {
		value  string
		refuse bool
	}{{"rk_test_00f3c2b1a09f8e7d6c5b4a3f2e1d0c9b", false}, {leakedKey, true}, {leakedKey, true}, {"", false}} {
		secrets = newSecrets(c.value)
		kept := len(b.hashes.known.files)
		bundle, found := b.Build(t.Context(), m)
		if found.HasErrors() != c.refuse || (bundle == nil) != c.refuse {
			t.Errorf("step %d: %v", step, found)
		}
		if step > 0 && kept != 1 || len(b.hashes.known.files) != 1 {
			t.Errorf("step %d: %d files were known, then %d", step, kept, len(b.hashes.known.files))
		}
	}
}

// TestLeaksInOtherProblems: a line that is shown for another reason is shown without the secret in it.
func TestLeaksInOtherProblems(t *testing.T) {
	dir := site(t, "index.js", "const key = '"+leakedKey+"' +;", "other.js", "import '"+leakedKey+"'; export default {}")
	for _, entry := range []string{"index.js", "other.js"} {
		_, found := builder(t, dir, Options{Secrets: newSecrets(leakedKey)}).Build(t.Context(), &manifest.Manifest{Entry: entry})
		if !found.HasErrors() || strings.Contains(fmt.Sprintf("%+v", found), leakedKey) {
			t.Errorf("%+v", found)
		}
	}
}

// BenchmarkLeaks builds 10,000 files of 200 MB, with and without ten secrets to look for.
func BenchmarkLeaks(b *testing.B) {
	files := []string{}
	line := strings.Repeat(`export const rows=[{"id":42,"name":"Boat club","at":"2026-10-01"}];function f(a,b){return a?b:[]}`, 211)
	for i := range 10_000 {
		files = append(files, fmt.Sprintf("public/%d/%d.js", i%100, i), fmt.Sprintf("%d %s", i, line))
	}
	dir := site(b, files...)
	var list []secretscan.Secret
	for i := range 10 {
		list = append(list, secretscan.Secret{
			Name: fmt.Sprint("KEY", i), Value: fmt.Sprintf("sk_%dHq%dLyjWDarjtT1zdp7dcXk%dm", i, i*7, i*13),
		})
	}
	set := secretscan.New(list, secretscan.Options{})
	for name, secrets := range map[string]func() *secretscan.Set{"none": nil, "ten": func() *secretscan.Set { return set }} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if bundle, found := builder(b, dir, Options{Secrets: secrets}).Build(
					b.Context(), &manifest.Manifest{Assets: "public"},
				); bundle == nil {
					b.Fatal(found)
				}
			}
		})
	}
}
