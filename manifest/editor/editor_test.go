package editor

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/pages-toolchain/pages/manifest"
)

// entryAt is the mapping of VS Code in a list whose elements have an indentation.
func entryAt(indentation string) string {
	return strings.ReplaceAll(`{
    "fileMatch": [
        "pages.deploy.json"
    ],
    "url": "./.vscode/pages.schema.json"
}`, "\n", "\n"+indentation)
}

// TestEditJSON compares whole texts, which shows that everything but the mapping stays.
func TestEditJSON(t *testing.T) {
	list := "\"json.schemas\": [\n        " + entryAt("        ") + "\n    ]"
	cases := map[string]struct{ src, want string }{
		"none":           {"", "{\n    " + list + "\n}\n"},
		"blank":          {" \n\t\n", "{\n    " + list + "\n}\n"},
		"empty object":   {"{}", "{\n    " + list + "\n}"},
		"empty, on two":  {"{\n}\n", "{\n    " + list + "\n}\n"},
		"only a comment": {"{\n    // nothing yet\n}\n", "{\n    // nothing yet\n    " + list + "\n}\n"},
		"after others": {
			"// ours\n{\n    \"a\": 1 // one\n}\n",
			"// ours\n{\n    \"a\": 1, // one\n    " + list + "\n}\n",
		},
		"trailing comma": {
			"{\n    \"a\": {\"b\" : [1,2,]}, /* two */\n    // off: \"c\": 3\n}",
			"{\n    \"a\": {\"b\" : [1,2,]}, /* two */\n    // off: \"c\": 3\n    " + list + ",\n}",
		},
		"one line": {`{"a":1}`, "{\"a\":1,\n    " + list + "\n}"},
		"comment at the end": {
			"{\n    \"a\": 1\n}\n// the end",
			"{\n    \"a\": 1,\n    " + list + "\n}\n// the end",
		},
		"other schemas": {
			"{\n    \"json.schemas\": [\n        {\"fileMatch\": \"a.json\", \"url\": \"./a\"} // a\n    ],\n    \"z\": 1\n}\n",
			"{\n    \"json.schemas\": [\n        {\"fileMatch\": \"a.json\", \"url\": \"./a\"}, // a\n        " + entryAt("        ") +
				"\n    ],\n    \"z\": 1\n}\n",
		},
		"no schemas": {
			"{\n    \"json.schemas\": [],\n}\n",
			"{\n    \"json.schemas\": [\n        " + entryAt("        ") + "\n    ],\n}\n",
		},
		"tabs": {
			"{\n\t\"a\": 1\n}\n",
			"{\n\t\"a\": 1,\n\t" + strings.ReplaceAll(list, "    ", "\t") + "\n}\n",
		},
		"the last of two": {
			"{\n    \"json.schemas\": 1,\n    \"json.schemas\": []\n}\n",
			"{\n    \"json.schemas\": 1,\n    \"json.schemas\": [\n        " + entryAt("        ") + "\n    ]\n}\n",
		},
	}
	for name, c := range cases {
		for _, eol := range []string{"\n", "\r\n"} {
			t.Run(fmt.Sprintf("%s %q", name, eol), func(t *testing.T) {
				src, want := withLineEnd(c.src, eol), withLineEnd(c.want, eol)
				if !strings.Contains(c.src, "\n") || strings.TrimSpace(c.src) == "" {
					want = c.want // the text has no line end to follow
				}
				editTwice(t, settingsOf(t, "vscode"), src, want)
			})
		}
	}
}

// TestEditZed: some of the keys that lead to the list may exist.
func TestEditZed(t *testing.T) {
	entry := `{
  "fileMatch": [
    "pages.deploy.json"
  ],
  "url": "./.zed/pages.schema.json"
}`
	below := func(keys []string, depth int) string {
		text := "[\n" + indent(entry, "  ") + "\n]"
		for i, key := range slices.Backward(keys) {
			text = fmt.Sprintf("%q: %s", key, text)
			if i > 0 {
				text = "{\n" + indent(text, "  ") + "\n}"
			}
		}
		return indent(text, strings.Repeat("  ", depth))
	}
	keys := []string{"lsp", "json-language-server", "settings", "json", "schemas"}
	zed := settingsOf(t, "zed")
	editTwice(t, zed, "", "{\n"+below(keys, 1)+"\n}\n")
	editTwice(t, zed,
		"// Folder-specific\n{\n  \"lsp\": {\n    \"gopls\": {}, // go\n  },\n}\n",
		"// Folder-specific\n{\n  \"lsp\": {\n    \"gopls\": {}, // go\n"+below(keys[1:], 2)+",\n  },\n}\n")
	editTwice(t, zed,
		"{\n  \"lsp\": {\"json-language-server\": {\"settings\": {}}}\n}\n",
		"{\n  \"lsp\": {\"json-language-server\": {\"settings\": {\n"+below(keys[3:], 2)+"\n  }}}\n}\n")
}

func TestEditJetBrains(t *testing.T) {
	const head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	entry := indent(jetbrainsEntry, strings.Repeat(xmlUnit, 4))
	body := "  <component name=\"JsonSchemaMappingsProjectConfiguration\">\n    <state>\n      <map>\n" + entry +
		"\n      </map>\n    </state>\n  </component>\n"
	whole := head + "<project version=\"4\">\n" + body + "</project>"
	other := "        <entry key=\"a &amp; b\">\n          <value><SchemaInfo><option name=\"name\" " +
		"value=\"a\"/></SchemaInfo></value>\n        </entry> <!-- a -->\n"
	cases := map[string]struct{ src, want string }{
		"none":          {"", whole},
		"empty project": {head + "<project version=\"4\" />\n", whole + "\n"},
		"empty component": {
			head + "<project version=\"4\">\n  <component name=\"JsonSchemaMappingsProjectConfiguration\" />\n</project>",
			whole,
		},
		"empty state": {
			head +
				"<project version=\"4\">\n  <component name=\"JsonSchemaMappingsProjectConfiguration\">\n    <state " +
				"/>\n  </component>\n</project>",
			whole,
		},
		"empty map": {
			head +
				"<project version=\"4\">\n  <component name=\"JsonSchemaMappingsProjectConfiguration\">\n    <state>\n" +
				"      <map></map>\n    </state>\n  </component>\n</project>",
			whole,
		},
		"other component": {
			head + "<project version=\"4\">\n  <component name='X'/>\n</project>\n",
			head + "<project version=\"4\">\n  <component name='X'/>\n" + body + "</project>\n",
		},
		"other entry": {
			strings.Replace(whole, entry+"\n", other, 1),
			strings.Replace(whole, entry+"\n", other+entry+"\n", 1),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			editTwice(t, settingsOf(t, "jetbrains"), c.src, c.want)
			if c.src != "" {
				editTwice(t, settingsOf(t, "jetbrains"), withLineEnd(c.src, "\r\n"), withLineEnd(c.want, "\r\n"))
			}
		})
	}
	t.Run("as the IDEs read it", func(t *testing.T) {
		var p struct {
			Version   string `xml:"version,attr"`
			Component struct {
				Name    string `xml:"name,attr"`
				Entries []struct {
					Key     string `xml:"key,attr"`
					Options []struct {
						Name  string `xml:"name,attr"`
						Value string `xml:"value,attr"`
						Items []struct {
							Options []struct {
								Name  string `xml:"name,attr"`
								Value string `xml:"value,attr"`
							} `xml:"option"`
						} `xml:"list>Item"`
					} `xml:"value>SchemaInfo>option"`
				} `xml:"state>map>entry"`
			} `xml:"component"`
		}
		if err := xml.Unmarshal([]byte(whole), &p); err != nil {
			t.Fatal(err)
		}
		const want = `{4 {JsonSchemaMappingsProjectConfiguration [{pages.deploy.json [` +
			`{name pages.deploy.json []} {relativePathToSchema .idea/pages.schema.json []} {schemaVersion JSON Schema version 7 []} ` +
			`{patterns  [{[{pattern true} {path pages.deploy.json} {mappingKind Pattern}]}]}]}]}}`
		if got := fmt.Sprint(p); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestEditNeovim(t *testing.T) {
	nvim := settingsOf(t, "neovim")
	block := neovimBegin + "\n" + neovimLua + neovimEnd + "\n"
	editTwice(t, nvim, "", block)
	editTwice(t, nvim, "vim.o.tabstop = 2\nreturn 1", block+"\nvim.o.tabstop = 2\nreturn 1")
	editTwice(t, nvim, "a = 1\r\n", withLineEnd(block, "\r\n")+"\r\na = 1\r\n")
	editTwice(t, nvim, "a = 1\n"+neovimBegin+"\nof an older version()\n"+neovimEnd+"\nb = 2\n", "a = 1\n"+block+"b = 2\n")
	for _, name := range []string{manifest.FileName, neovimSchema} {
		if !strings.Contains(neovimLua, name) {
			t.Errorf("the Lua code does not name %s", name)
		}
	}
}

// TestEditLaunch: a configuration to attach goes after the author's own, and an edited one of ours stays.
func TestEditLaunch(t *testing.T) {
	file := All()[0].Files[1]
	attach := func(indentation string) string {
		return strings.ReplaceAll(`{
    "name": "pages dev --inspect",
    "type": "node",
    "request": "attach",
    "address": "127.0.0.1",
    "port": 9229,
    "restart": true,
    "attachExistingChildren": false,
    "autoAttachChildProcesses": false,
    "skipFiles": [
        "<node_internals>/**"
    ]
}`, "\n", "\n"+indentation)
	}
	const step = "        "
	editTwice(t, file, "", "{\n    \"version\": \"0.2.0\",\n    \"configurations\": [\n"+step+attach(step)+"\n    ]\n}\n")
	editTwice(t, file,
		"{\n    // ours\n    \"configurations\": [\n        {\"name\": \"tests\"} // first\n    ]\n}\n",
		"{\n    // ours\n    \"configurations\": [\n        {\"name\": \"tests\"}, // first\n"+step+attach(step)+"\n    ]\n}\n")
	own := `{"configurations": [7, {}, {"name": 7}, {"name": "pages dev --inspect", "port": 9230}]}`
	editTwice(t, file, own, own)
	if _, err := file.Edit([]byte(`{"configurations": {}}`)); err == nil {
		t.Error("an object is taken for a list")
	}
}

// editTwice edits src, compares all of it, and edits again, which must do nothing.
func editTwice(t *testing.T, f File, src, want string) {
	t.Helper()
	got, err := f.Edit([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Fatalf("got\n%q\nwant\n%q", got, want)
	}
	again, err := f.Edit(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, got) {
		t.Errorf("a second time\n%s\nafter\n%s", again, got)
	}
}

// settingsOf returns the file with an editor's settings.
func settingsOf(t testing.TB, name string) File {
	t.Helper()
	all := All()
	i := slices.IndexFunc(all, func(e Editor) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("there is no editor %q", name)
	}
	return all[i].Files[0]
}

// refusedSettings are settings that are not edited: editor, text, and the place
// and reason of the refusal.
var refusedSettings = []struct{ editor, src, want string }{
	{"vscode", "{\n    \"ä\": ü\n}\n", `2:10: settings-syntax: this is not JSON with comments: invalid character 'ü' at start of value`},
	{"vscode", "{", `1:2: settings-syntax: this is not JSON with comments: parsing value: unexpected EOF`},
	{"vscode", "// only this", `1:13: settings-syntax: this is not JSON with comments: parsing value: unexpected EOF`},
	{"vscode", "{} {}", `1:4: settings-syntax: this is not JSON with comments: invalid character '{' after top-level value`},
	{"vscode", strings.Repeat("[", 4000), `1:1001: settings-syntax: this is not JSON with comments: more than 1000 brackets are open`},
	{"vscode", "[]", `1:1: settings-shape: the file holds a list where the editor takes an object`},
	{"vscode", "{\n  \"json.schemas\": null}", `2:19: settings-shape: "json.schemas" holds null where the editor takes a list`},
	{
		"vscode", `{"json.schemas": [{"fileMatch": ["**/pages.deploy.json"], "url": "./x.json"}]}`,
		`1:19: settings-taken: pages.deploy.json is mapped to "./x.json" here`,
	},
	{
		"vscode", `{"json.schemas": [{"fileMatch": "pages.deploy.json", "schema": {}}]}`,
		`1:19: settings-taken: pages.deploy.json is mapped to another schema here`,
	},
	{
		"zed", `{"lsp": {"json-language-server": 7}}`,
		`1:34: settings-shape: "lsp > json-language-server" holds a number where the editor takes an object`,
	},
	{
		"jetbrains", "<project>\n  <component>\n</project>",
		`3:11: settings-syntax: this is not XML: element <component> closed by </project>`,
	},
	{"jetbrains", "  <!-- -->", `1:11: settings-syntax: this is not XML: it has no element`},
	{"jetbrains", "<module/>", `1:1: settings-shape: the file holds a <module> where the editor takes a <project>`},
	{
		"jetbrains",
		`<project><component name="JsonSchemaMappingsProjectConfiguration"><state><map>` + "\n" +
			`<entry key="pages.deploy.json"/></map></state></component></project>`,
		`2:1: settings-taken: pages.deploy.json is mapped to another schema here`,
	},
	{
		"neovim", "a = 1\n" + neovimBegin + "\n",
		`2:1: settings-syntax: the block needs one begin mark and one end mark, and has 1 and 0`,
	},
	{
		"neovim", neovimEnd + "\n" + neovimBegin + "\n",
		`2:1: settings-syntax: the block needs one begin mark and one end mark, and has 1 and 1`,
	},
}

func TestEditRefused(t *testing.T) {
	for _, c := range refusedSettings {
		t.Run(fmt.Sprintf("%s %.40q", c.editor, c.src), func(t *testing.T) {
			_, err := settingsOf(t, c.editor).Edit([]byte(c.src))
			e, ok := errors.AsType[*SettingsError](err)
			if !ok {
				t.Errorf("%s %.40q: %v", c.editor, c.src, err)
				return
			}
			line, column := e.Place([]byte(c.src))
			if got := fmt.Sprintf("%d:%d: %s: %s", line, column, e.Code, e.Msg); got != c.want {
				t.Errorf("%s %.40q\ngot  %s\nwant %s", c.editor, c.src, got, c.want)
			}
			if e.Fix == "" {
				t.Errorf("%s %.40q: no fix", c.editor, c.src)
			}
		})
	}
}

// FuzzEdit: an edit adds the mapping once and changes nothing else, or gives the place that prevents it.
func FuzzEdit(f *testing.F) {
	for _, c := range refusedSettings {
		f.Add([]byte(c.src))
	}
	f.Add([]byte("{\r\n\t\"a\": [1, {},], // b\r\n}"))
	f.Add([]byte(`<project><component name="JsonSchemaMappingsProjectConfiguration"/></project>`))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, e := range All() {
			for _, f := range e.Files {
				fuzzEdit(t, f, src)
			}
		}
	})
}

func fuzzEdit(t *testing.T, f File, src []byte) {
	t.Helper()
	out, err := f.Edit(src)
	if refusal, ok := errors.AsType[*SettingsError](err); ok {
		if refusal.Offset < 0 || refusal.Offset > len(src) {
			t.Errorf("%s: the place %d is not in %q", f.Path, refusal.Offset, src)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", f.Path, err)
	}
	if again, err := f.Edit(out); err != nil || !bytes.Equal(again, out) {
		t.Errorf("%s: %q becomes %q, then %q (%v)", f.Path, src, out, again, err)
	}
	if strings.HasPrefix(f.Path, ".vscode/") && len(bytes.TrimSpace(src)) > 0 {
		sameSettings(t, src, out)
	}
}

// sameSettings compares everything but the lists that edits add to.
func sameSettings(t *testing.T, src, out []byte) {
	t.Helper()
	var values [2]map[string]any
	for i, text := range [][]byte{src, out} {
		standard, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := json.Unmarshal(standard, &values[i]); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		delete(values[i], "json.schemas")
		delete(values[i], "configurations")
	}
	if before, after := fmt.Sprint(values[0]), fmt.Sprint(values[1]); before != after {
		t.Errorf("%q becomes %q", before, after)
	}
}
