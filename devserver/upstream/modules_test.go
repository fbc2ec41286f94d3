package upstream

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// clubModules are the modules of a site with members at /club/* and /about-us/secret, whose sources are in dir.
func clubModules(t *testing.T, files ...string) *modules {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("the secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return newModules(dir, []manifest.Route{
		{Pattern: "/club/*", Access: manifest.Members}, {Pattern: "/office/back-room", Access: manifest.Members},
	}, slog.New(slog.DiscardHandler))
}

// serve passes responses to a stranger through the modules.
func (m *modules) serve(t *testing.T, at, kindName, text string) {
	t.Helper()
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	if kindName == "page" {
		var r pageReader
		r.read(m, []byte(text), true)
		m.learn(keyOf(base), m.resolveAll(true, base, r.refs))
		return
	}
	m.learn(keyOf(base), m.answerOf(map[string]kind{"script": script, "style": style, "data": data}[kindName], base, []byte(text)))
}

// TestPublic checks which URLs are public, given the references of public responses.
func TestPublic(t *testing.T) {
	const home = `<html><script type="module" src="/src/main.jsx"></script></html>`
	for _, row := range []struct {
		name           string
		answers        [][3]string // path, kind, text
		public, closed string      // keys
	}{
		{
			"a static import is public, through every module",
			[][3]string{
				{"/", "page", home},
				{"/src/main.jsx", "script", `import { App } from "/src/App.jsx?t=17";`},
				{"/src/App.jsx", "script", `export * from "./lib/a.js"; import "/src/App.css"`},
			},
			"/src/main.jsx /src/App.jsx /src/lib/a.js /src/App.css", "/src/lib/b.js /src/main.jsx?raw /package.json",
		},
		{
			"a members page that a public one imports statically",
			[][3]string{{"/", "page", home}, {"/src/main.jsx", "script", `import { Club } from "/src/Club.jsx";`}},
			"/src/Club.jsx", "",
		},
		{
			"one in a comment is not imported",
			[][3]string{
				{"/", "page", home},
				{
					"/src/main.jsx", "script",
					"// import a from \"./Club.jsx\"\n/*\nimport b from './Hidden.jsx'\n*/\nimport c from './c.js'",
				},
			},
			"/src/c.js", "/src/Club.jsx /src/Hidden.jsx",
		},
		{
			"import() of what has the name of a members route",
			[][3]string{
				{"/", "page", home},
				{"/src/main.jsx", "script", `const C = () => import("/src/pages/ClubPage.jsx"), B = () => import("/src/back-room/x.js"),
				 R = () => import("/src/office/backRoom.js"), A = () => import("./About.jsx")`},
			},
			"/src/About.jsx /src/back-room/x.js", "/src/pages/ClubPage.jsx /src/office/backRoom.js",
		},
		{
			"import() tied to a members route, in an object",
			[][3]string{
				{"/", "page", home},
				{"/src/main.jsx", "script", `const Vault = lazy(() => import("./Vault.jsx"));
				export const routes = [{ path: "/club/", element: jsx(Vault, {}) }, { path: "/", lazy: () => import("./Home.jsx") },
				 { path: "/x", children: [{ path: "club", lazy: () => import("./Inner.jsx") }] }]`},
			},
			"/src/Home.jsx", "/src/Vault.jsx /src/Inner.jsx",
		},
		{
			"by a key, a call, a list, a condition and a case",
			[][3]string{
				{"/", "page", home},
				{"/src/main.jsx", "script", `const a = { "/club/x": () => import("./A.js"), "/": () => import("./Home.js") };
				route("/club/y", () => import("./B.js")); new Map([["/club/z", () => import("./C.js")]]);
				if (location.pathname.startsWith("/club/")) import("./D.js"); else import("./Else.js");
				const e = path === "/club/" ? import("./E.js") : import("./Other.js"); path === "/club/q" && import("./F.js");
				switch (path) { case "/club/g": import("./G.js"); break; case "/h": import("./H.js") }`},
			},
			"/src/Home.js /src/Else.js /src/Other.js /src/H.js", "/src/A.js /src/B.js /src/C.js /src/D.js /src/E.js /src/F.js /src/G.js",
		},
		{
			"a module that import() reaches opens no members page, and no part of one",
			[][3]string{
				{"/", "page", `<script type="module">import("/gen/app.js")</script>`},
				{"/gen/app.js", "script", `export const nodes = [() => import("./nodes/0.js"), () => import("./nodes/1.js")]`},
				{"/gen/nodes/0.js", "script", `export { default } from "/src/routes/about/+page.svelte"`},
				{"/gen/nodes/1.js", "script", `export { default } from "/src/routes/club/+page.svelte"`},
				{"/src/routes/club/+page.svelte", "script", `import x from "/src/lib/Secret.svelte"`},
			},
			"/gen/app.js /gen/nodes/1.js /src/routes/about/+page.svelte", "/src/routes/club/+page.svelte /src/lib/Secret.svelte",
		},
		{
			"elements of a page: islands, styles, images, but no links",
			[][3]string{
				{
					"/", "page", `<link rel=stylesheet href="/a.css?v=1"><img srcset="/1.png 1x, /2.png 2x"><a href="/src/Club.jsx">x</a>
					<astro-island component-url="/src/Counter.jsx" renderer-url="/@id/renderer.js"></astro-island>
					<div style="background:url(/b.png)">`,
				},
				{"/a.css", "style", `@import "./c.css"; a { background: url('/d.png') }`},
			},
			"/a.css /1.png /2.png /src/Counter.jsx /@id/renderer.js /b.png /c.css /d.png", "/src/Club.jsx",
		},
		{
			"a script of tomorrow's syntax loads nothing, and names what it names",
			[][3]string{{"/", "page", home}, {"/src/main.jsx", "script", `import a from "/a.js"; syntax of ??? tomorrow "/src/Club.jsx"`}},
			"/a.js", "/src/Club.jsx",
		},
		{
			"a list of routes as data",
			[][3]string{{"/", "page", `<script type="application/json">{"a":"/src/a.js","c":"/src/club/c.js"}</script>`}},
			"/src/a.js", "/src/club/c.js",
		},
		{
			"a source map, by its name",
			[][3]string{{"/", "page", home}, {"/src/main.jsx", "script", "a()\n//# sourceMappingURL=main.jsx.map\n"}},
			"/src/main.jsx.map", "/src/Club.jsx.map",
		},
		{
			"another server's",
			[][3]string{{"/", "page", `<script src="https://cdn.example/src/x.js"></script><link href="//cdn.example/src/y.js">`}},
			"", "/src/x.js /src/y.js",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := clubModules(t)
			for _, a := range row.answers {
				m.serve(t, a[0], a[1], a[2])
			}
			for key := range strings.FieldsSeq(row.public) {
				if !m.isPublic(key) {
					t.Errorf("%s is closed", key)
				}
			}
			for key := range strings.FieldsSeq(row.closed) {
				if m.isPublic(key) {
					t.Errorf("%s is public", key)
				}
			}
		})
	}
}

// TestForgotten: a module stops being public when its last public import is gone.
func TestForgotten(t *testing.T) {
	m := clubModules(t)
	m.serve(t, "/", "page", `<script type="module" src="/a.js"></script>`)
	m.serve(t, "/a.js", "script", `import "/b.js"`)
	before := m.isPublic("/b.js")
	m.serve(t, "/a.js?t=2", "script", `import "/c.js"`)
	if !before || m.isPublic("/b.js") || !m.isPublic("/c.js") {
		t.Error("an edit does not count")
	}
}

// TestStreamedPage: a page has the same references in pieces of any length as in one piece.
func TestStreamedPage(t *testing.T) {
	const text = `<html><head><link rel="stylesheet" href="/a.css"><script type="module">import("/b.js"); const x = "</p>";</script>` +
		`</head><body><!-- <script src="/no.js"></script> --><img src='/c.png'><script src="/d.js" async></script><p>end`
	m := clubModules(t)
	var whole pageReader
	whole.read(m, []byte(text), true)
	for size := 1; size < len(text); size++ {
		var r pageReader
		for at := 0; at < len(text); at += size {
			r.read(m, []byte(text[:min(at+size, len(text))]), at+size >= len(text))
		}
		if !slices.Equal(r.refs.loads, whole.refs.loads) || !slices.Contains(r.refs.loads, "/b.js") || len(r.refs.loads) != 4 {
			t.Fatalf("in pieces of %d it loads %q, and as a whole %q", size, r.refs.loads, whole.refs.loads)
		}
	}
}

func TestSource(t *testing.T) {
	m := clubModules(t, "src/Club.jsx", "package.json")
	for _, row := range []struct{ path, want string }{
		{"/src/Club.jsx", "src/Club.jsx"},
		{"/@fs" + filepath.ToSlash(m.dir) + "/src/Club.jsx", "src/Club.jsx"},
		{"/_nuxt/src/Club.jsx", "src/Club.jsx"},
		{"/@id/src/Club.jsx", "src/Club.jsx"},
		{"/@fs" + filepath.ToSlash(os.Args[0]), filepath.ToSlash(os.Args[0])},
		{"/src", ""},
		{"/", ""},
		{"/data/items.json", ""},
		{"/../package.json", "package.json"},
	} {
		if got := m.source(row.path); got != row.want {
			t.Errorf("%s is %q, want %q", row.path, got, row.want)
		}
	}
}

func TestOfMembersPage(t *testing.T) {
	m := clubModules(t)
	for _, row := range []struct {
		path string
		want bool
	}{
		{"/club.data", true},
		{"/club/__data.json", true},
		{"/office/back-room/__data.json", true},
		{"/office/back-room.data", true},
		{"/_next/data/build/club/x.json", true},
		{"/_nuxt/builds/meta/1.json", false},
		{"/blog/club.data", false},
		{"/items.json", false},
		{"/api/todos", false},
	} {
		if got := m.ofMembersPage(row.path); got != row.want {
			t.Errorf("%s: %t, want %t", row.path, got, row.want)
		}
	}
}

// TestMayHear uses messages of hot module replacement.
func TestMayHear(t *testing.T) {
	m := clubModules(t, "src/Club.jsx", "src/App.jsx", "src/main.jsx")
	m.serve(t, "/", "page", `<script type="module" src="/src/main.jsx"></script>`)
	m.serve(t, "/src/main.jsx", "script", `import "/src/App.jsx"`)
	dir := filepath.ToSlash(m.dir)
	for _, row := range []struct {
		name, message string
		want          bool
	}{
		{"connected", `{"type":"connected"}`, true},
		{"an update is a name", `{"type":"update","updates":[{"type":"js-update","path":"/src/Club.jsx"}]}`, true},
		{"an error in a public module", `{"type":"error","err":{"id":"` + dir + `/src/App.jsx","frame":"1 | const a\n2 | b"}}`, true},
		{"an error in a members page", `{"type":"error","err":{"id":"` + dir + `/src/Club.jsx","frame":"1 | const a\n2 | b"}}`, false},
		{"by its name in the project", `{"frame":"src/Club.jsx:3:1\n3 | the secret"}`, false},
		{"by its address", `{"stack":"Error\n    at http://localhost:5173/src/Club.jsx:3:1\n the secret"}`, false},
		{"by a chunk of code", `{"[project]/src/Club.jsx [client]":{"code":"a\nthe secret"}}`, false},
		{"of a package", `{"stack":"Error\n    at ` + dir + `/node_modules/vite/dist/x.js:3:1"}`, true},
		{"without a file", `{"text":"a\nb"}`, true},
	} {
		if got := m.mayHear([]byte(row.message)); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
}
