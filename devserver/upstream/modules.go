package upstream

import (
	"context"
	"hash/maphash"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

// This file decides which responses of a dev server are for everybody. The rule does not depend on the framework:
//
//   - a public page is an HTML document at a path that no members route covers. Everything that it loads by itself is public
//     too: the targets of its elements, the static imports of its scripts, and so on through every module. A members page whose
//     module is among them is no secret, neither here nor in the built site, and the log says so;
//   - the later loads of a public module (import(), a path in a string) are public too, unless the name has the words of a
//     members route (/src/Club.jsx, /src/routes/club/+page.svelte, for /club/*), or the module itself ties it to such a
//     route ({path: "/club", lazy: () => import("./Vault.jsx")}). Modules reached that way make no members page public either;
//   - code and files of the site's folder that nothing public names are for members: whatever prefix, query or suffix asks
//     for them (/src/…, /@fs/…, ?raw, .map). The server's data, images and fonts are not code: they are public unless their
//     path leads to a members page;
//   - a WebSocket passes no message to a stranger that quotes lines of a file that is not public (socket.go).
//
// The proxy reads the references of a page from the bytes on their way to the visitor, so the page must be asked for before its
// modules; where a browser took one of them from its cache, the proxy asks the server for it.

const (
	maxAnswers   = 20_000  // that are remembered for one site
	maxReferred  = 20_000  // references that are read from one response
	maxReadBytes = 8 << 20 // of one response; a longer one has none
	maxCrawl     = 2_000   // modules that are requested for one request
	crawlTime    = 10 * time.Second
)

// answer has the references in one response of the server, by keys.
type answer struct {
	sum      uint64 // of a module's text
	document bool   // a public page
	loads    []string
	later    []string // without those that belong to a members route
}

// modules stores the references of public responses.
type modules struct {
	dir     string
	routes  []manifest.Route
	table   *manifest.RouteTable
	secret  [][]string // the words of each members route
	logger  *slog.Logger
	crawl   sync.Mutex // held by the one request that requests modules
	mu      sync.Mutex
	answers map[string]*answer
	order   []string        // keys of answers, the oldest first
	public  map[string]bool // nil if it must be made again
	told    map[string]bool // the keys of logged messages
}

func newModules(dir string, routes []manifest.Route, logger *slog.Logger) *modules {
	m := &modules{
		dir: dir, routes: slices.Clone(routes), table: manifest.NewRouteTable(routes), logger: logger, answers: map[string]*answer{},
		told: map[string]bool{},
	}
	for _, r := range routes {
		if words := wordsOf(strings.TrimSuffix(r.Pattern, "/*")); r.Access == manifest.Members && len(words) > 0 {
			m.secret = append(m.secret, words)
		}
	}
	return m
}

func (m *modules) sameRoutes(routes []manifest.Route) bool { return slices.Equal(m.routes, routes) }

// keyOf returns the key of a URL: path and query, without the parameters that only mark a version.
func keyOf(u *url.URL) string {
	if u.RawQuery == "" {
		return u.Path
	}
	var kept []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		if part != "" && name != "t" && name != "v" && name != "ts" && name != "import" {
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		return u.Path
	}
	return u.Path + "?" + strings.Join(kept, "&")
}

// resolve returns the key of a reference in the response with a key; "" for a reference to another site.
func resolve(base *url.URL, reference string) string {
	u, err := url.Parse(reference)
	if err != nil || u.Opaque != "" {
		return ""
	}
	full := base.ResolveReference(u)
	if full.Host != base.Host || full.Scheme != base.Scheme {
		return ""
	}
	return keyOf(full)
}

// isPublic reports whether a public page names a key.
func (m *modules) isPublic(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.publicKeys()[key]
}

// publicKeys returns all keys that public pages name. The caller holds the lock.
func (m *modules) publicKeys() map[string]bool {
	if m.public != nil {
		return m.public
	}
	public := map[string]bool{}
	m.follow(public, func(a *answer, _ string) bool { return a.document }, func(a *answer) [][]string {
		return [][]string{a.loads} // without later loads
	}, func(string) bool { return true })
	for key := range public {
		if m.isSecret(key) && m.tell(key) {
			m.logger.Warn("a public page imports "+m.shown(key)+", so everyone can read it, and its name is that of a members page",
				"fix", "import it with import() in a module of the members page")
		}
	}
	m.follow(public, func(a *answer, key string) bool { return a.document || public[key] }, func(a *answer) [][]string {
		return [][]string{a.loads, a.later} // including later loads
	}, func(to string) bool { return !m.isSecret(to) })
	m.public = public
	return public
}

// follow adds the references of some responses to a set, then the references of those, and so on. The caller holds the lock.
func (m *modules) follow(
	set map[string]bool, begin func(a *answer, key string) bool, named func(a *answer) [][]string, may func(to string) bool,
) {
	var queue []string
	for _, key := range m.order {
		if begin(m.answers[key], key) {
			queue = append(queue, key)
		}
	}
	for at := 0; at < len(queue); at++ {
		a := m.answers[queue[at]]
		if a == nil {
			continue
		}
		for _, to := range slices.Concat(named(a)...) {
			if !set[to] && may(to) {
				set[to] = true
				queue = append(queue, to)
			}
		}
	}
}

// tell reports whether a message about a key is new. The caller holds the lock.
func (m *modules) tell(key string) bool {
	before := m.told[key]
	if len(m.told) < maxAnswers {
		m.told[key] = true
	}
	return !before
}

// shown returns a key in the form for the log: the file of the site, if it is one.
func (m *modules) shown(key string) string {
	name, _, _ := strings.Cut(key, "?")
	if file := m.source(name); file != "" {
		return file
	}
	return name
}

func (m *modules) hasRead(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answers[key] != nil
}

// learn stores the references of a response.
func (m *modules) learn(key string, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known := m.answers[key]
	if known && before.sum == a.sum && before.document == a.document &&
		slices.Equal(before.loads, a.loads) && slices.Equal(before.later, a.later) {
		return
	}
	if !known {
		if len(m.order) >= maxAnswers {
			delete(m.answers, m.order[0])
			m.order = m.order[1:]
		}
		m.order = append(m.order, key)
	}
	m.answers[key] = a
	m.public = nil
}

var seed = maphash.MakeSeed()

// learnModule stores the references of a complete module. It skips an unchanged module, because parsing is slow.
func (m *modules) learnModule(k kind, base *url.URL, key string, text []byte) {
	sum := maphash.Bytes(seed, text)
	m.mu.Lock()
	before := m.answers[key]
	m.mu.Unlock()
	if before != nil && before.sum == sum {
		return
	}
	a := m.answerOf(k, base, text)
	a.sum = sum
	m.learn(key, a)
}

// unread lists the modules that public pages load by themselves and that the proxy has not read.
func (m *modules) unread() (keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.publicKeys() {
		if m.answers[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// isSecret reports whether a key has the words of a members route, one after the other.
func (m *modules) isSecret(key string) bool {
	words := wordsOf(strings.ReplaceAll(key, filepath.ToSlash(m.dir), ""))
	for _, secret := range m.secret {
		for at := range words {
			if len(words)-at >= len(secret) && slices.Equal(words[at:at+len(secret)], secret) {
				return true
			}
		}
	}
	return false
}

// wordsOf splits a path into words in lower case: at characters that are not letters or digits, and before capitals.
func wordsOf(text string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = nil
		}
	}
	lower := false
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			end()
		}
		lower = !unicode.IsUpper(r)
		word = append(word, unicode.ToLower(r))
	}
	end()
	return words
}

// leads reports whether a path of the site is that of a members page.
func (m *modules) leads(name string) bool {
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	name, _, _ = strings.Cut(name, "?")
	name, _, _ = strings.Cut(name, "#")
	return m.table.JudgeFile(name).Gated() || m.table.JudgeFile(strings.TrimSuffix(name, "/*")).Gated()
}

// source returns the file that a path names, after any prefix: a file of the site's folder, relative to it, or another file of this
// machine; "" for none.
func (m *modules) source(name string) string {
	name = strings.TrimSuffix(name, "/")
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		rest := filepath.FromSlash(name[i+1:])
		if rest == "" {
			continue
		}
		if filepath.IsLocal(rest) && isFile(filepath.Join(m.dir, rest)) {
			return filepath.ToSlash(rest)
		}
		whole := filepath.FromSlash(name[i:])
		if i > 0 && isFile(whole) {
			return m.within(whole)
		}
		if filepath.VolumeName(rest) != "" && isFile(rest) {
			return m.within(rest)
		}
	}
	return ""
}

// within returns the name of a file in the form of source.
func (m *modules) within(file string) string {
	if rel, err := filepath.Rel(m.dir, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// admit refuses a secret module before the request reaches the server. For any other URL that is not public it sets s.closed,
// since the decision depends on the kind of the response.
func (p *Proxy) admit(r *http.Request, s *pass) error {
	m := s.modules
	if m.isPublic(s.key) {
		return nil
	}
	if isCode(r.URL.Path) {
		p.readOn(r, m, s.key)
		if m.isPublic(s.key) {
			return nil
		}
	}
	s.closed = true
	if source := m.source(r.URL.Path); source != "" && m.isSecret(r.URL.Path) {
		return m.refusal(r.URL.Path)
	}
	return nil
}

// isCode reports whether a path looks like that of a module.
func isCode(name string) bool {
	ending := path.Ext(name)
	return ending != "" && ending != ".html" || strings.Contains(name, "/@") || strings.Contains(name, "/_")
}

// refusal is the response to a stranger's request for a module that no public page names.
func (m *modules) refusal(name string) *site.RefusalError {
	m.mu.Lock()
	fresh := m.tell("401 " + name)
	m.mu.Unlock()
	if fresh {
		m.logger.Warn(m.shown(name)+" was refused, since the visitor is not a member and no public page names it",
			"fix", "sign in (key p, or pages dev --as member); or load the public page that imports it first")
	}
	return &site.RefusalError{
		Status: http.StatusUnauthorized, Code: "sign_in_required",
		Message: "this file is for members: no public page of the site names it",
		Fix:     "sign in, or open the public page that imports it",
	}
}

// readOn asks the server for modules that public pages load and that browsers may have taken from their caches, until one of
// them names a key.
func (p *Proxy) readOn(r *http.Request, m *modules, key string) {
	if len(m.unread()) == 0 {
		return
	}
	m.crawl.Lock()
	defer m.crawl.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), crawlTime)
	defer cancel()
	for asked := 0; asked < maxCrawl && !m.isPublic(key) && ctx.Err() == nil; {
		list := m.unread()
		if len(list) == 0 {
			return
		}
		const atOnce = 8
		for batch := range slices.Chunk(list, atOnce) {
			var group sync.WaitGroup
			for _, each := range batch {
				group.Go(func() { p.read(ctx, m, each) })
			}
			group.Wait()
			if asked += len(batch); m.isPublic(key) || asked >= maxCrawl || ctx.Err() != nil {
				return
			}
		}
	}
}

// read requests one module from the server and stores its references. After a failure it stores none, so that readOn does not
// repeat the request.
func (p *Proxy) read(ctx context.Context, m *modules, key string) {
	found := &answer{}
	defer func() {
		if ctx.Err() == nil {
			m.learn(key, found)
		}
	}()
	at, err := url.Parse(key)
	if err != nil {
		return
	}
	target, err := p.options.Target(ctx, true)
	if err != nil {
		return
	}
	base := *at
	at.Scheme, at.Host = target.scheme(), target.Address
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return
	}
	r.Host = target.Host
	r.Header.Set("Accept", "*/*")
	resp, err := p.transport.RoundTrip(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	k := kindOf(resp.Header, base.Path)
	if resp.StatusCode != http.StatusOK || k == other || k == page {
		return
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReadBytes+1))
	if err == nil && len(text) <= maxReadBytes {
		found = m.answerOf(k, &base, text)
	}
}
