package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cloudflareHarness is a site whose Worker is the complete output of "pages build --target cloudflare". It asks the front door for the
// address in X-Ask: the dev server keeps "/__pages/" for itself.
const cloudflareHarness = `import front from "./out/src/index.js";
export default {
  async fetch(request, env, ctx) {
    const headers = new Headers(request.headers), asked = new URL(request.headers.get("x-ask"), "https://club.example");
    headers.delete("x-ask");
    for (const name of ["origin", "referer", "sec-fetch-mode", "sec-fetch-site", "cookie", "cf-connecting-ip"]) {
      const value = request.headers.get("x-" + name);
      headers.delete("x-" + name);
      headers.delete(name);
      if (value) headers.set(name, value);
    }
    const method = request.headers.get("x-method") ?? request.method;
    const body = method === "GET" ? undefined : await request.arrayBuffer();
    const ASSETS = { fetch: () => new Response("", { status: 404 }) };
    const bound = { ASSETS, PAGES_DB: env.DB, DB: env.DB, PAGES_SIGN_IN: "personas", PAGES_SESSION_KEY: "a key" };
    if (asked.pathname === "/leads") {
      const { results } = await env.DB.prepare("SELECT * FROM leads ORDER BY seq").all();
      return Response.json(results);
    }
    return front.fetch(new Request(asked, { method, headers, body, redirect: "manual" }), bound, ctx);
  },
};
`

// cloudflareSite builds a site for Cloudflare, and serves the output in an engine.
func cloudflareSite(t *testing.T, engine string) *devServer {
	t.Helper()
	withEngine(t, engine)
	dir := t.TempDir()
	write := func(files map[string]string) {
		for name, text := range files {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(map[string]string{
		"site/pages.deploy.json": `{"entry": "w.js", "assets": "public", "forms": [{"name": "contact", "event": "custom.contact"}],
			"routes": [{"pattern": "/club/*", "access": "members"}]}`,
		"site/w.js":              `export default { fetch: async (r) => new Response(new URL(r.url).pathname + " " + (await r.text())) };`,
		"site/public/index.html": `<form method=post action=/__pages/forms/contact><input name=email></form>`,
		"site/public/_headers":   "/__pages/forms/*\n  Access-Control-Allow-Origin: https://shop.example\n",
	})
	built := filepath.Join(dir, "host", "out")
	build := exec.Command(program(t), "build", filepath.Join(dir, "site"), "--target", "cloudflare", "--outdir", built)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	tables, err := os.ReadFile(filepath.Join(built, "platform-migrations", "0001_leads_and_events.sql"))
	if err != nil {
		t.Fatal(err)
	}
	write(map[string]string{
		"host/pages.deploy.json": `{"entry": "w.js", "routes": [{"pattern": "/*"}], "bindings": {"database": {"migrations": "sql"}},
			"limits": {"subRequests": 50}}`,
		"host/w.js": cloudflareHarness, "host/sql/0001_a.sql": string(tables),
	})
	return startDev(t, filepath.Join(dir, "host"))
}

// TestCloudflareForms: the front door of "pages build --target cloudflare" answers scripts of other origins, and members with expired
// sessions, as pages dev does.
func TestCloudflareForms(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			d := cloudflareSite(t, engine)
			const form = "Content-Type: application/x-www-form-urlencoded"
			ask := func(method, path, body string, headers ...string) answer {
				t.Helper()
				return d.do("POST", "/", body, append(headers, "X-Ask: "+path, "X-Method: "+method, form)...)
			}
			const contact, shop, evil = "/__pages/forms/contact", "X-Origin: https://shop.example", "X-Origin: https://evil.example"
			const asked = "Access-Control-Request-Method: POST"
			const script, page = "X-Sec-Fetch-Mode: cors", "X-Sec-Fetch-Mode: navigate"
			for _, c := range []struct {
				name         string
				got          answer
				status       int
				allowed, has string
			}{
				{"a preflight", ask("OPTIONS", contact, "", shop, asked), 204, "https://shop.example", ""},
				{"a preflight of another", ask("OPTIONS", contact, "", evil, asked), 403, "", "foreign_origin"},
				{"a script", ask("POST", contact, "email=a", shop, script), 201, "https://shop.example", `"email":"a"`},
				{"a script of another", ask("POST", contact, "email=evil", evil, script), 403, "", "foreign_origin"},
				{"a page of another", ask("POST", contact, "email=b", evil, page, "Accept: text/html"), 303, "", ""},
				// Fields of the platform's spam filter, which this front door does not have, are not answers.
				{
					"a form with the fields of the filter",
					ask("POST", contact, "_stamp=a&altcha=e30%3D&_gotcha=&_honey=x&bot-field=&email=c", shop, script),
					201, "https://shop.example", `"fields":{"email":"c"}`,
				},
				{"the script of a page", ask("GET", "/__pages/forms/stamp.js", ""), 200, "", "no spam filter"},
				{"a challenge of its widget", ask("GET", "/__pages/forms/altcha.json", ""), 200, "", `"algorithm":"SHA-256","challenge":"`},
			} {
				if c.got.StatusCode != c.status || c.got.Header.Get("Access-Control-Allow-Origin") != c.allowed ||
					!strings.Contains(c.got.body, c.has) {
					t.Errorf("%s: %d %q %s", c.name, c.got.StatusCode, c.got.Header.Get("Access-Control-Allow-Origin"), c.got.body)
				}
			}
			var leads []struct{ Form, Fields string }
			if err := json.Unmarshal([]byte(ask("GET", "/leads", "").body), &leads); err != nil || len(leads) != 3 ||
				leads[0].Fields != `{"email":"a"}` || leads[1].Fields != `{"email":"b"}` || leads[2].Fields != `{"email":"c"}` {
				t.Errorf("%v, the leads are %+v", err, leads)
			}

			own := []string{"X-Origin: https://club.example", page, "Accept: text/html"}
			const typed, from = "note=caf%C3%A9+%3Cb%3E&note=two", "X-Referer: https://club.example/club/x"
			kept := ask("POST", "/club/save?a=b", typed, append(own, from)...)
			for _, part := range []string{
				`href="/__pages/sign-in?next=%2Fclub%2Fx"`, `action="/club/save?a=b"`, `value="café &#60;b&#62;"`, `value="two"`,
			} {
				if kept.StatusCode != 401 || !strings.Contains(kept.body, part) {
					t.Errorf("%d, without %s:\n%s", kept.StatusCode, part, kept.body)
				}
			}
			foreign := ask("POST", "/club/save", "note=x", evil, page, "Accept: text/html")
			if foreign.StatusCode != 401 || strings.Contains(foreign.body, "<form") {
				t.Errorf("a form of another site is kept: %d %s", foreign.StatusCode, foreign.body)
			}
			in := ask("POST", "/__pages/sign-in", "persona=member&next=/club/x", own...)
			cookie, _, _ := strings.Cut(in.Header.Get("Set-Cookie"), ";")
			if in.StatusCode != http.StatusSeeOther || in.Header.Get("Location") != "/club/x" {
				t.Fatalf("%d %v", in.StatusCode, in.Header)
			}
			d.expect(ask("POST", "/club/save?a=b", "note=two", append(own, "X-Cookie: "+cookie)...), 200, "/club/save note=two")

			out := ask("POST", "/__pages/sign-out", "", append(own, "X-Cookie: "+cookie)...)
			if out.StatusCode != http.StatusSeeOther || out.Header.Get("Location") != "/__pages/signed-out" {
				t.Errorf("sign-out: %d %v", out.StatusCode, out.Header)
			}
			_, onward, _ := strings.Cut(ask("GET", "/__pages/signed-out", "").Header.Get("Refresh"), "url=")
			if forgets := ask("GET", onward, ""); forgets.StatusCode != http.StatusSeeOther || forgets.Header.Get("Location") != "/" ||
				forgets.Header.Get("Clear-Site-Data") != `"cache"` {
				t.Errorf("%q: %d %v", onward, forgets.StatusCode, forgets.Header)
			}
		})
	}
}
