package workertypes_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/workertypes"
)

func declare(t *testing.T, text string) string {
	t.Helper()
	m, diags := manifest.Parse(manifest.FileName, []byte(text))
	if m == nil {
		t.Fatalf("%v", diags)
	}
	return string(workertypes.Declare(m))
}

func TestDeclare(t *testing.T) {
	for _, c := range []struct{ manifest, want, not string }{
		{`{}`, "interface PagesEnv {\n}", "DB:"},
		{`{"entry": "w.js", "bindings": {"database": {}}}`, "  DB: D1Database;\n", "PROJECT_DB"},
		{`{"entry": "w.js", "bindings": {"projectDatabase": "read"}}`, "  PROJECT_DB: D1Database;\n", "  DB:"},
		{`{"entry": "w.js", "bindings": {"projectDatabase": "none"}}`, "interface PagesEnv {\n}", "PROJECT_DB"},
		{
			`{"entry": "w.js", "bindings": {"kv": {}, "storage": {"name": "my-files"}}}`,
			"  KV: KVNamespace;\n  /** The site's bucket. */\n  \"my-files\": R2Bucket;\n", "",
		},
		{
			`{"entry": "w.js", "bindings": {"secrets": ["A_KEY"]}, "runtime": {"compatibilityFlags": ["nodejs_compat"]}}`,
			"  interface ProcessEnv {\n    A_KEY: string;\n", "Forms",
		},
		{`{"forms": [{"name": "say-hello", "event": "custom.hello"}]}`, "    \"say-hello\": \"custom.hello\";\n", "ProcessEnv"},
	} {
		t.Run(c.manifest, func(t *testing.T) {
			text := declare(t, c.manifest)
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("%s: want %q and not %q in\n%s", c.manifest, c.want, c.not, text[:min(len(text), 600)])
			}
			if !workertypes.Own([]byte(text)) || text != declare(t, c.manifest) {
				t.Errorf("%s: the text is unknown again", c.manifest)
			}
		})
	}
}

func TestSame(t *testing.T) {
	text := []byte(declare(t, `{}`))
	if !workertypes.Same(text, bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))) {
		t.Error("line ends count")
	}
	if workertypes.Same(text, append(text, ' ')) {
		t.Error("a space more does not count")
	}
}
