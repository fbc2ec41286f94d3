package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file is the demo seed: two workspaces with data for every tool. Keys and ids are the same on every machine, so they
// are not secret; times count from the week of the seed.

// Demo describes the seed.
type Demo struct {
	// Keys are API keys by purpose: member, service, both, pinned, stored, revoked, no_access and limited.
	Keys map[string]string
	// Workspaces are the slugs.
	Workspaces []string
	// IDs are values for arguments of calls, such as "site_id".
	IDs map[string]string
}

// NotEmptyError means that the service has data other than the seed.
type NotEmptyError struct{}

func (NotEmptyError) Error() string { return "the service holds other data" }

// Seed adds the demo to an empty service. It changes nothing if the demo exists.
func (s *Service) Seed(ctx context.Context) (Demo, error) {
	demo := Demo{Keys: map[string]string{}, Workspaces: []string{"acme", "globex"}, IDs: map[string]string{}}
	for _, k := range demoKeys {
		demo.Keys[k.name] = demoKey(k.name)
	}
	for name, what := range map[string]string{
		"site_id": "site home", "other_site_id": "site shop", "unpublished_site_id": "site new",
		"domain_id": "domain www", "service_domain_id": "provided home",
		"board_id": "board", "week_id": "week", "tile_id": "tile 1", "child_asset_id": "asset variant 2",
	} {
		demo.IDs[name] = demoID(what)
	}
	return demo, s.db.write(ctx, func(t tx) error {
		var planted, other bool
		if _, err := t.queryOne("SELECT EXISTS (SELECT 1 FROM settings WHERE name = 'demo'), EXISTS (SELECT 1 FROM accounts)",
			nil, &planted, &other); err != nil || planted {
			return err
		}
		if other {
			return NotEmptyError{}
		}
		store, err := s.store()
		if err != nil {
			return err
		}
		g := &seeder{tx: t, now: s.now(), files: store}
		g.people()
		g.content()
		g.pages()
		g.drafts()
		g.shorts()
		g.add("INSERT INTO settings (name, value) VALUES ('demo', 1)")
		return g.err
	})
}

func demoKey(name string) string {
	sum := sha256.Sum256([]byte("pages demo key " + name))
	return keyPrefix + strings.ToLower(keyEncoding.EncodeToString(sum[:]))
}

// demoID makes a UUID of version 8, whose bits are free.
func demoID(what string) string {
	b := sha256.Sum256([]byte("pages demo " + what))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Rows of the demo's workspaces and account.
const (
	acme   = 1
	globex = 2
)

var demoKeys = []struct {
	name           string
	holder         int
	pin, perMinute any
	revoked        bool
}{
	{name: "member", holder: 1},
	{name: "service", holder: 2},
	{name: "both", holder: 3},
	{name: "pinned", holder: 4, pin: globex},
	{name: "stored", holder: 5},
	{name: "revoked", holder: 1, revoked: true},
	{name: "no_access", holder: 6},
	{name: "limited", holder: 1, perMinute: 5},
}

// seeder adds rows until one fails.
type seeder struct {
	tx
	now   time.Time
	files *blob.Store
	err   error
}

func (g *seeder) add(query string, args ...any) {
	if g.err == nil {
		g.err = g.exec(query, args...)
	}
	if g.err != nil && !errors.Is(g.err, context.Canceled) {
		g.err = fmt.Errorf("create the demo data: %w", g.err)
	}
}

// at returns a time in the week of the seed: the day counted from Monday, in UTC.
func (g *seeder) at(day, hour int) int64 {
	return weekOf(g.now.UTC(), time.UTC)[0].AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour).UnixMilli()
}

func (g *seeder) people() {
	g.add("INSERT INTO accounts (id, name) VALUES (1, 'Demo')")
	g.add("INSERT INTO workspaces (id, slug, name, time_zone) VALUES "+
		"(?, 'acme', 'Acme Studio', 'Europe/Berlin'), (?, 'globex', 'Globex', 'America/New_York')", acme, globex)
	for _, h := range []struct {
		id           int
		email, name  string
		service      bool
		access       bool
		standard     any
		acme, globex string
	}{
		{1, "ana@acme.test", "Ana", false, true, nil, "owner", ""},
		{2, "deploy@acme.test", "Deploy bot", true, true, nil, "owner", ""},
		{3, "bo@globex.test", "Bo", false, true, nil, "owner", "owner"},
		{4, "pia@globex.test", "Pia", false, true, nil, "editor", "owner"},
		{5, "cy@acme.test", "Cy", false, true, acme, "owner", "viewer"},
		{6, "dee@acme.test", "Dee", false, false, nil, "editor", ""},
	} {
		g.add("INSERT INTO holders (id, account_id, service, email, name, api_access, default_workspace) VALUES (?, 1, ?, ?, ?, ?, ?)",
			h.id, h.service, h.email, h.name, h.access, h.standard)
		for i, role := range []string{h.acme, h.globex} {
			if role != "" {
				g.add("INSERT INTO memberships (holder_id, workspace_id, role) VALUES (?, ?, ?)", h.id, []int{acme, globex}[i], role)
			}
		}
	}
	for _, k := range demoKeys {
		key, created := demoKey(k.name), g.now.UnixMilli()
		var revoked any
		if k.revoked {
			revoked = created
		}
		g.add("INSERT INTO keys (hash, prefix, name, holder_id, pin, per_minute, created_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			hashKey(key), key[:shownKey], "demo "+k.name, k.holder, k.pin, k.perMinute, created, revoked)
	}
	g.add("INSERT INTO brand_profiles (workspace_id, display_name, status, booking_link, booking_email) VALUES "+
		"(?, 'Acme Studio', 'in_progress', 'https://acme.example/book', 'hello@acme.example')", acme)
	for _, section := range []string{"about", "audience", "voice", "booking"} {
		g.add("INSERT INTO brand_sections (workspace_id, key, text) VALUES (?, ?, ?)", acme, section, "What Acme says of its "+section+".")
	}
}

var demoTitles = []string{"Behind the kiln", "Three glazes to start with", "A studio in a day", "Questions we get"}

func (g *seeder) content() {
	formats := []string{"posts", "stories", "shorts_clips", "long_form", "articles", "podcast"}
	states := []string{"draft", "variants_in_progress", "ready", "approved", "scheduled", "publishing", "published", "verified", "failed"}
	n := 0
	for round, title := range demoTitles {
		for i, status := range states {
			var scheduled, published, reason any
			variants := "[]"
			if i >= 2 {
				variants = `[{"platform":"instagram","status":"ready"},{"platform":"youtube","status":"ready"}]`
			}
			if i >= 3 {
				scheduled = g.at((i+round)%daysOfWeek, 9+round)
			}
			if status == "published" || status == "verified" {
				published = g.at((i+round)%daysOfWeek, 9+round)
			}
			if status == "failed" {
				reason = "The platform refused the file: the video is too long."
			}
			g.add("INSERT INTO pieces (id, workspace_id, title, format, status, scheduled_for, published_at, "+
				"failure_reason, variants, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				demoID(fmt.Sprint("piece ", n)), acme, fmt.Sprintf("%s, part %d", title, i+1), formats[n%len(formats)],
				status, scheduled, published, reason, variants, g.now.Add(-time.Duration(n)*time.Hour).UnixMilli())
			n++
		}
	}
	g.add("INSERT INTO pieces (id, workspace_id, title, format, status, updated_at) VALUES "+
		"(?, ?, 'The first of Globex', 'articles', 'draft', ?)", demoID("piece globex"), globex, g.now.UnixMilli())
	for i, format := range []string{"posts", "shorts_clips", "stories"} {
		g.add("INSERT INTO cadence (workspace_id, format, per_week, position) VALUES (?, ?, ?, ?)", acme, format, []int{3, 5, 7}[i], i)
	}
}

func (g *seeder) pages() {
	for _, s := range []struct {
		what, name string
		workspace  int
		revisions  int
		live       int
	}{
		{"home", "Home", acme, 3, 2},
		{"shop", "Shop", acme, 1, 1},
		{"new", "Open studio", acme, 1, 0},
		{"globex", "Globex", globex, 2, 2},
	} {
		id := demoID("site " + s.what)
		g.add("INSERT INTO sites (id, workspace_id, name) VALUES (?, ?, ?)", id, s.workspace, s.name)
		for n := 1; n <= s.revisions && g.err == nil; n++ {
			var name string
			name, g.err = g.revision(s.workspace, id, s.name, n)
			if n <= s.live && g.err == nil {
				g.err = g.setLive(id, name, "seed", g.at(0, n))
			}
		}
		g.add("INSERT INTO domains (id, workspace_id, hostname, site_id, provided) VALUES (?, ?, ?, ?, 1)",
			demoID("provided "+s.what), s.workspace, "demo-"+s.what+".localhost", id)
	}
	g.add("INSERT INTO domains (id, workspace_id, hostname, site_id) VALUES (?, ?, 'www.acme.example', ?)",
		demoID("domain www"), acme, demoID("site home"))
	g.add("INSERT INTO domains (id, workspace_id, hostname, site_id, active) VALUES (?, ?, 'shop.acme.example', ?, 0)",
		demoID("domain shop"), acme, demoID("site home"))
}

func (g *seeder) drafts() {
	id := demoID("board")
	g.add("INSERT INTO boards (id, workspace_id, display_name, revision, position, running) VALUES (?, ?, 'Welcome new leads', 4, 4, ?)",
		id, acme, `{"steps":[]}`)
	for position, steps := range []string{`[]`, `["wait"]`, `["wait","mail"]`, `["wait","mail","task"]`, `["mail","task"]`} {
		g.add("INSERT INTO board_states (board_id, position, state) VALUES (?, ?, ?)", id, position, `{"steps":`+steps+`}`)
	}
	parent := demoID("asset")
	g.add("INSERT INTO assets (id, workspace_id, status) VALUES (?, ?, 'in_review')", parent, acme)
	for n := 1; n <= 3; n++ {
		g.add("INSERT INTO assets (id, workspace_id, parent_id, status, is_primary) VALUES (?, ?, ?, 'draft', ?)",
			demoID(fmt.Sprint("asset variant ", n)), acme, parent, n == 1)
	}
}

func (g *seeder) shorts() {
	for n, t := range []tile{
		{shape: "question, cut, answer", competitor: "Northside Clay", kind: "talking head", length: "20s"},
		{shape: "before and after", competitor: "Kiln & Co", kind: "process", length: "15s"},
		{shape: "list of three", competitor: "Studio Ember", kind: "captions", length: "30s"},
	} {
		g.add("INSERT INTO tiles (id, workspace_id, competitor, shape, kind, length) VALUES (?, ?, ?, ?, ?, ?)",
			demoID(fmt.Sprint("tile ", n+1)), acme, t.competitor, t.shape, t.kind, t.length)
	}
	for n, title := range demoTitles {
		g.add("INSERT INTO own_lines (workspace_id, position, title, line) VALUES (?, ?, ?, ?)",
			acme, n, title, "What we say about "+strings.ToLower(title)+".")
	}
	g.add("INSERT INTO weeks (id, workspace_id) VALUES (?, ?)", demoID("week"), acme)
	for n := 1; n <= planSize; n++ {
		g.add("INSERT INTO week_cards (week_id, number) VALUES (?, ?)", demoID("week"), n)
	}
	for i, factors := range [][]int{{30, 10, 11}, {10, 11, 10}} {
		workspace := []int{acme, globex}[i]
		for n, name := range []string{"Warm light", "Plain captions", "Split screen"} {
			id := demoID(fmt.Sprint("look ", workspace, n))
			g.add("INSERT INTO looks (id, workspace_id, template_id, name, kind, reads, sample, position) VALUES (?, "+
				"?, ?, ?, 'short', ?, ?, ?)",
				id, workspace, fmt.Sprintf("template-%d", n+1), name, name+", one thought a cut",
				"/samples/"+strings.ReplaceAll(strings.ToLower(name), " ", "-")+".mp4", n)
			for i := range 12 {
				g.add("INSERT INTO look_results (look_id, views) VALUES (?, ?)", id, factors[n]*(80+(i*37)%50))
			}
		}
	}
}

// demoManifest is the manifest of the demo's pages: plain files, and a folder for members.
const demoManifest = `{"assets":"public","routes":[{"pattern":"/members/*","access":"members"}]}`

// demoFiles returns the files of the n-th revision of a page.
func demoFiles(name string, n int) map[string][]byte {
	page := func(title, text string) []byte {
		return fmt.Appendf(nil, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>%s</title>\n"+
			"<link rel=\"stylesheet\" href=\"/site.css\">\n<h1>%s</h1>\n<p>%s</p>\n</html>\n",
			html.EscapeString(title), html.EscapeString(title), text)
	}
	return map[string][]byte{
		"public/index.html":         page(name, fmt.Sprintf(`This is revision %d. <a href="/members/">For members</a>`, n)),
		"public/members/index.html": page("For members of "+name, "Only signed-in members see this."),
		"public/site.css":           []byte("body { font: 1.1rem/1.5 system-ui; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }\n"),
	}
}

// revision adds a revision with its files, and returns its name.
func (g *seeder) revision(workspace int, site, page string, n int) (string, error) {
	space := g.files.Space(int64(workspace))
	var files []sitefile.File
	var sums []string
	for path, text := range demoFiles(page, n) {
		sum := sha256.Sum256(text)
		f := sitefile.File{Path: path, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text))}
		if _, err := space.Put(f.SHA256, f.Size, bytes.NewReader(text)); err != nil {
			return "", err
		}
		files, sums = append(files, f), append(sums, f.SHA256)
	}
	b, err := bundle.New([]byte(demoManifest), files)
	if err != nil {
		return "", err
	}
	if err := space.Sync(sums); err != nil {
		return "", err
	}
	p, err := pack(b, blobsOfFiles(b.Files))
	if err != nil {
		return "", err
	}
	id, err := g.storeBundle(int64(workspace), p)
	if err != nil {
		return "", err
	}
	made := toolapi.Finalized{}
	err = g.ensureRevision(site, id, time.UnixMilli(g.at(0, n)), &made)
	return made.Revision, err
}
