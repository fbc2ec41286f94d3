//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestPublishedConsole: the service's log has each console line of a published site's Worker, one JSON line for each, with the site's name
// and without its secrets in any form.
func TestPublishedConsole(t *testing.T) {
	p := startPlatform(t, t.TempDir())
	made := p.newPageLedger(t, "Chatty page")
	const token, lines = "s3cr3t/with \"quotes\" & more", "-----BEGIN KEY-----\nbGluZSBvbmU\nbGluZSB0d28\n-----END KEY-----"
	for name, value := range map[string]string{"TOKEN": token, "KEY": lines, "TINY": "abc"} {
		body, err := json.Marshal(map[string]string{"site_id": made.site, "name": name, "value": value})
		if err != nil {
			t.Fatal(err)
		}
		if _, text, err := p.call(p.Keys["member"], "page.set_secret", string(body)); err != nil || !strings.Contains(text, `"ok":true`) {
			t.Fatal(text, err)
		}
	}
	const worker = `export default { fetch(request, { TOKEN, KEY }) {
  console.log("plain", TOKEN);
  console.info({ inside: TOKEN, KEY });
  console.warn(encodeURIComponent(TOKEN), btoa(TOKEN), JSON.stringify(TOKEN));
  console.error(KEY.split("\n")[1]);
  console.debug("quiet", TOKEN);
  if (new URL(request.url).pathname === "/api/throw") throw new Error("with " + TOKEN);
  return new Response("said");
} }`
	manifest := `{"entry":"w.js","assets":"public","routes":[{"pattern":"/api/*"}],"bindings":{"secrets":["TOKEN","KEY","TINY"]}}`
	revision := p.ship(t, made.site, manifest, map[string]string{"w.js": worker, "public/a.txt": "a"})
	for path, want := range map[string]int{"/api/x": http.StatusOK, "/api/throw": http.StatusInternalServerError} {
		if v := p.request(t, http.MethodGet, made.host, path, ""); v.status != want {
			t.Errorf("%s: %d %s", path, v.status, v.body)
		}
	}
	broken, err := p.upload(made.site, manifest, map[string]string{
		"w.js":         `import { env } from "cloudflare:workers"; throw new Error("at load " + (env?.TOKEN ?? "none"))`,
		"public/a.txt": "a",
	})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.goLive("page.publish", made.site, broken, false); err != nil || o.OK || strings.Contains(o.Message, "s3cr3t") {
		t.Errorf("a Worker that fails with a secret: %+v %v", o, err)
	}
	type logged struct {
		Level, Msg, Page, Site, Revision, Text, At, Method, Path string
	}
	want := map[string]string{"plain [secret TOKEN]": "INFO", "[secret TOKEN] [secret TOKEN]": "WARN", "[secret KEY]": "ERROR"}
	log := p.stderr.String()
	for line := range strings.Lines(log) {
		var l logged
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Msg != "console" {
			continue
		}
		if l.Page != "Chatty page" || l.Site != made.site || l.Revision != revision || !strings.HasPrefix(l.Path, "/api/") ||
			l.Method != http.MethodGet || !strings.HasPrefix(l.At, "w.js:") {
			t.Errorf("%s", line)
		}
		for text, level := range want {
			if strings.HasPrefix(l.Text, text) && l.Level == level {
				delete(want, text)
			}
		}
		if strings.Contains(l.Text, "inside") && strings.Count(l.Text, "[secret TOKEN]") == 1 {
			delete(want, "inside")
		}
	}
	if len(want) != 0 {
		t.Errorf("not logged: %q\n%s", want, log)
	}
	for _, canary := range []string{"s3cr3t", "bGluZSBvbmU", "bGluZSB0d28", "czNjcjN0"} {
		t.Run(canary, func(t *testing.T) {
			if strings.Contains(log, canary) {
				t.Errorf("the log has %s\n%s", canary, log)
			}
		})
	}
}
