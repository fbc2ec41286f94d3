package cloudflare

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMembersFiles: browsers do not keep members pages, not even for the Back button, and may keep public pages.
func TestMembersFiles(t *testing.T) {
	dir := t.TempDir()
	front, err := fs.Sub(sources, "front")
	if err == nil {
		err = os.CopyFS(dir, front)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"package.json": `{"type": "module"}`,
		"site.js":      `export default {};`,
		"config.js": `export default { routes: [], fallbacks: [{ folder: "/app", page: "/a" }, ` +
			`{ folder: "/inner", page: "/club/a" }], guarded: ["/club/a", "/club/a.txt", "/club/said", "/club/none"], notFound: [{ ` +
			`folder: "/club", guarded: true }] };`,
		"members.js": `export const identify = () => ({ member: true }), signIn = null, signedOut = null, signOut = null;`,
		"run.js": `
import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent('export const resolve = (name, context, next) => ' +
	'name === "cloudflare:workers" ? { url: "data:text/javascript,export const env = {};", shortCircuit: true } : next(name, context);'));
const { default: front } = await import("./index.js");
const files = { "/a": "text/html", "/club/a": "text/html; charset=utf-8", "/club/a.txt": "text/plain",
	"/club/said": "text/html", "/club/404": "text/html" };
const ASSETS = { fetch(asked) {
  const path = new URL(asked.url ?? asked).pathname, type = files[path];
  const said = path === "/club/said" ? "private, max-age=9" : "public, max-age=0, must-revalidate";
  return type ? new Response("x", { headers: { "content-type": type, "cache-control": said } }) : new Response("", { status: 404 });
} };
for (const path of ["/a", "/club/a", "/club/a.txt", "/club/said", "/club/none", "/app/x", "/inner/x", "/app%2Fx", "/a%2F", "//a",
  "/x/..%2fclub%2fa", "/__pages%2Fforms"]) {
  const answer = await front.fetch(new Request("https://club.example" + path), { ASSETS }, {});
  console.log(answer.status, path, answer.headers.get("cache-control"));
}
const { nextPage } = await import("./paths.js");
for (const next of ["/a?b#c", "/danke sch\u00f6n", "https://club.example", "https://club.example/a\u00e9?x", "https://club.example.evil/",
  "a.html", "//evil",
  "https://club.example//evil", "/%2Fevil", undefined]) {
  console.log(next, nextPage(next, new Request("https://club.example/form")));
}
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "run.js")).CombinedOutput()
	const want = `200 /a public, max-age=0, must-revalidate
200 /club/a no-store
200 /club/a.txt private, no-cache
200 /club/said private, max-age=9
404 /club/none no-store
200 /app/x public, max-age=0, must-revalidate
200 /inner/x no-store
404 /app%2Fx no-store
404 /a%2F no-store
307 //a public, max-age=0, must-revalidate
404 /x/..%2fclub%2fa no-store
404 /__pages%2Fforms no-store
/a?b#c /a?b#c
/danke schön /danke%20sch%C3%B6n
https://club.example /
https://club.example/aé?x /a%C3%A9?x
https://club.example.evil/ undefined
a.html undefined
//evil undefined
https://club.example//evil undefined
/%2Fevil undefined
undefined undefined
`
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%swant\n%s", err, got, want)
	}
}
