package manifest_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestSecretsAreHidden: no format repeats a value at the place of a secret, even in a file with other faults. The secret of each source is
// the word hunter2, or the words around it.
func TestSecretsAreHidden(t *testing.T) {
	for _, source := range []string{
		`{"bindings":{"secrets":["postgres://u:hunter2@db.example/x"]`,
		`{"bindings":{"secrets":["correct hunter2 staple"}}`,
		`{"bindings":{"secrets":["correct hunter2 staple`,
		`{"bindings":{"secrets":"hunter2"}}`,
		`{"bindings":{"secrets":["hunter2!"],"x":1}}`,
		`{"vars":{"API_KEY":"postgres://u:hunter2@db.example/x"}}`,
		`{"secrets":["postgres://u:hunter2@db.example/x"]}`,
		`{"secrets":["hunter2"]}`,
		`{"bindings":{"secret":["DB_PASSWORD=hunter2"]}}`,
		`{"bindings":{"env":{"STRIPE_KEY":"sk_hunter2"}}}`,
		`{"bindings":{"database":{"password":"hunter2"}}}`,
		`{"bindings":{"database":{"dbPassword":"hunter2"}}}`,
		`{"bindings":{"database":{"PASSWD":["a",{"b":"hunter2"}]}}}`,
		`{"credentials":{"a":{"a":"hunter2","a":"hunter2"}}}`,
		`{"postgres://u:hunter2@db.example/x":1}`,
		`{"x":{"postgres://u:hunter2@db.example/x":{"a":1,"a":2}}}`,
		`{"bindings":{"projectDatabase":"postgres://u:hunter2@db.example/x"}}`,
		`{"bindings":{"projectDatabase":"postgres:\/\/u:hunter2@db.example\/x"}}`,
		`{"bindings":{"projectDatabase":"postgres://u:p/a?#hunter2@db.example/x"}}`,
		`{"bindings":{"projectDatabase":"https://hunter2@db.example/x"}}`,
		`{"runtime":{"compatibilityFlags":["postgres://u:hunter2@db.example/x"]}}`,
		`{"runtime":{"compatibilityFlags":["DB_PASSWORD=hunter2"]}}`,
		`{"entry":"postgres://u:hunter2@db.example/x"}`,
		`{"bindings":{"database":{"migrations":"postgres://u:hunter2@db.example/x"}}}`,
		`{"x":["apikey=hunter2"]}`,
		`{"x":["url?api_token=hunter2"]}`,
		`{"password":hunter2}`,
		`{"password":hunter2 with spaces}`,
		`{"password" "hunter2"}`,
		`{"password":'hunter2'}`,
		`{"password":"\hunter2"}`,
		`{"password: "hunter2"}`,
		`{password: "hunter2"}`,
		"password: hunter2\nentry: w.js\n",
		"DB_PASSWORD=hunter2,{more}\n",
		"API_TOKEN = \"hunter2\"\n[site]\n",
		`{"a":1 // password: hunter2` + "\n}",
		`{/* token = hunter2 */}`,
		`{"entry":"w.js" "token":"hunter2"}`,
		`{"routes":[{"pattern":"/a","apiKey":"hunter2"}]}`,
		`{"x":1,"token":123,"secret":"` + "\u65e5" + `hunter2","y":1}`,
	} {
		t.Run(source, func(t *testing.T) {
			if all := everyFormat(t, source); strings.Contains(all, "hunter2") {
				t.Errorf("%s: the secret is in the output:\n%.3000s", source, all)
			}
		})
	}
}

// TestNamesAreShown checks that frames show values that only sound like secrets.
func TestNamesAreShown(t *testing.T) {
	for source, shown := range map[string]string{
		`{"bindings":{"secrets":["STRIPE_KEY","db-password"],"x":1}}`:     `"secrets":["STRIPE_KEY","db-password"],"x":1`,
		`{"bindings":{"secrets":["STRIPE_KEY","db-password"`:              `"secrets":["STRIPE_KEY","db-password"`,
		`{"bindings":{"database":{"tables":["tokens","secrets"]},"x":1}}`: `"tables":["tokens","secrets"]`,
		`{"bindings":{"kv":{"name":"KEY_VALUE"},"x":1}}`:                  `{"name":"KEY_VALUE"}`,
		`{"forms":[{"name":"token"}],"x":1}`:                              `{"name":"token"}`,
		`{"forms":[{"name":"Token"}],"x":1}`:                              `the form name "Token"`,
		`{"routes":[{"pattern":"/key/*"}],"x":1}`:                         `{"pattern":"/key/*"}`,
		`{"routes":[{"pattern":"https://h/@a"}]}`:                         `{"pattern":"https://h/@a"}`,
		`{"entry":"src/worker-secret.js","x":1}`:                          `"src/worker-secret.js"`,
		`{"routes":[{"pattern":"a/monkey=1"}]}`:                           `write "/a/monkey=1"`,
		`{"monkey":"banana"}`:                                             `"monkey":"banana"`,
		`{"turnkey":"banana","hockey":1}`:                                 `"turnkey":"banana"`,
		`{"tokens":true}`:                                                 `"tokens":true`,
		`{"vars":{"A":"entry"},"main":"w.js"}`:                            `did you mean "entry"?`,
		`{"bindings":{"kv":{},"secrets":["KV"]}}`:                         `"KV" is already the environment name of kv`,
		`{"assets":"public","routes":[{"pattern":"/a"}]}`:                 `the route "/a" is public`,
	} {
		t.Run(source, func(t *testing.T) {
			if all := everyFormat(t, source); !strings.Contains(all, shown) {
				t.Errorf("%s: %s is not in the output:\n%.2000s", source, shown, all)
			}
		})
	}
}

// TestSecretsOfOtherConfigs hides the values of a bundled runtime config in the frames of its own problems.
func TestSecretsOfOtherConfigs(t *testing.T) {
	const config = `{"vars":{"API_KEY":"hunter2"},"compatibility_flags":["nodejs"]}`
	for _, text := range []string{config, config + "}", strings.TrimSuffix(config, "}")} {
		src := []byte(`{}`)
		_, diags := validate.Load(fstest.MapFS{
			manifest.FileName: {Data: src},
			"wrangler.jsonc":  {Data: []byte(text)},
		}, manifest.FileName)
		r := diagnostic.NewReport(manifest.FileName, diags)
		out := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, src, diagnostic.Terminal{}) })
		if len(diags) == 0 || strings.Contains(out, "hunter2") || !strings.Contains(out, `"API_KEY":"*******"`) {
			t.Errorf("%s:\n%s", text, out)
		}
	}
}
