package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// twoKilobytes is a manifest of the size that sites have, with every field used.
func twoKilobytes() []byte {
	var b strings.Builder
	b.WriteString(`{"entry": "src/worker.ts", "assets": "public", "routes": [`)
	for i := range 20 {
		fmt.Fprintf(&b, "{\"pattern\": \"/api/section-%02d/*\"},\n", i)
	}
	b.WriteString(`{"pattern": "/club/*", "access": "members"}],
"bindings": {"database": {"migrations": "migrations", "tables": ["boats", "outings", "leads"]},
"projectDatabase": "read", "secrets": ["API_KEY", "MAIL_TOKEN"], "submissions": "leads",
"storage": {}, "images": true, "kv": {"name": "CACHE"}},
"limits": {"cpuMs": 20000, "subRequests": 40},
"runtime": {"compatibilityFlags": ["nodejs_compat"], "compatibilityDate": "2026-11-01"},
"forms": [`)
	for i := range 12 {
		fmt.Fprintf(&b, "{\"name\": \"form-%02d\", \"event\": \"custom.form_%02d\"},\n", i, i)
	}
	b.WriteString(`{"name": "contact", "event": "custom.contact"}]}`)
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	src := twoKilobytes()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if m, diags := manifest.Parse(manifest.FileName, src); m == nil {
			b.Fatal(diags)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	site := fstest.MapFS{
		manifest.FileName:       {Data: twoKilobytes()},
		"src/worker.ts":         {Data: []byte("export default {}")},
		"migrations/0001_a.sql": {Data: []byte("CREATE TABLE boats (id); CREATE TABLE outings (id); CREATE TABLE leads (id);")},
	}
	for i := range 50 {
		site[fmt.Sprintf("public/%d.html", i)] = &fstest.MapFile{Data: []byte(strings.Repeat("<p>text</p>", 200))}
	}
	for b.Loop() {
		if m, diags := validate.Load(site, manifest.FileName); m == nil {
			b.Fatal(diags)
		}
	}
}
