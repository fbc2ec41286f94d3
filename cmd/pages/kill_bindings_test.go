package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// writerWorker writes a version of a key, or drops the key, and lists all keys with their versions: 0 for a dropped key, negative if the
// bytes are not those of one version.
const writerWorker = `
const body = (key, version, size) => (key + " " + version + ";").repeat(size / 8);
const version = (key, size, text) => {
	const n = Number(text.slice(key.length + 1, text.indexOf(";")));
	return text === body(key, n, size) ? n : -1;
};
const sizes = { db: 8_000, kv: 3_000, large: 400_000, r2: 60_000 };
const writes = {
	// Two rows, both or none.
	db: ({ DB }, key, n, text) => DB.batch(n === 0
		? [DB.prepare("DELETE FROM a WHERE key = ?").bind(key), DB.prepare("DELETE FROM b WHERE key = ?").bind(key)]
		: [DB.prepare("INSERT OR REPLACE INTO a VALUES (?, ?)").bind(key, text),
			DB.prepare("INSERT OR REPLACE INTO b VALUES (?, ?)").bind(key, n)]),
	kv: ({ KV }, key, n, text) => n === 0 ? KV.delete(key) : KV.put(key, text),
	large: ({ KV }, key, n, text) => n === 0 ? KV.delete(key) : KV.put(key, new Response(text).body),
	r2: ({ BUCKET }, key, n, text) => n === 0 ? BUCKET.delete(key) : BUCKET.put(key, text),
};
export default { async fetch(request, env) {
	const { pathname, searchParams } = new URL(request.url);
	if (pathname === "/api/write") {
		const [kind, key, n] = [searchParams.get("kind"), searchParams.get("key"), Number(searchParams.get("version"))];
		await writes[kind](env, key, n, body(key, n, sizes[kind]));
		return new Response("written");
	}
	const { DB, KV, BUCKET } = env, all = {};
	for (const { key, text, n } of (await DB.prepare("SELECT key, a.body text, b.version n FROM a FULL JOIN b USING (key)").all()).results)
		all[key] = text !== null && version(key, sizes.db, text) === n ? n : -1;
	for (const { name } of (await KV.list()).keys) all[name] = version(name, sizes[name.split("-")[0]], await KV.get(name));
	for (const { key, etag } of (await BUCKET.list()).objects) {
		const bytes = await (await BUCKET.get(key)).arrayBuffer();
		const sum = [...new Uint8Array(await crypto.subtle.digest("MD5", bytes))].map((b) => b.toString(16).padStart(2, "0")).join("");
		all[key] = sum === etag ? version(key, sizes.r2, new TextDecoder().decode(bytes)) : -2;
	}
	return Response.json(all);
} }`

// writerManifest and writerTables belong to that Worker.
const (
	writerManifest = `{"entry": "worker.js", "routes": [{"pattern": "/api/*"}], "limits": {"cpuMs": 30000},
	"bindings": {"database": {"migrations": "migrations"}, "kv": {"name": "KV"}, "storage": {"name": "BUCKET"}}}`
	writerTables = "CREATE TABLE a (key TEXT PRIMARY KEY, body TEXT NOT NULL);\nCREATE TABLE b (key TEXT PRIMARY KEY, " +
		"version INTEGER NOT NULL);\n"
)

// writerSite is a site with that Worker.
func writerSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pages.deploy.json":     writerManifest,
		"worker.js":             writerWorker,
		"migrations/0001_a.sql": writerTables,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ledger records the responses that writers got, by key.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]int
	under        map[string]int // way of a write without a response, which may be stored
	highest      map[string]int // version that was tried
	acks         int
	powerless    bool // responses do not count any more
}

func newLedger() *ledger {
	return &ledger{acknowledged: map[string]int{}, under: map[string]int{}, highest: map[string]int{}}
}

// written lists the stores that writers write to.
var written = []string{"db", "kv", "large", "r2"}

// load runs two writers of each kind until the server is gone, and calls enough after this number of acknowledged writes.
func (l *ledger) load(d *devServer, count int, enough func()) {
	var writers sync.WaitGroup
	var once sync.Once
	count += l.acks
	l.powerless = false
	for _, kind := range written {
		for n := range 2 {
			writers.Go(func() {
				for l.write(d, kind, fmt.Sprintf("%s-%d-%d", kind, n, rand.IntN(4))) { //nolint:gosec // a choice
					l.mu.Lock()
					reached := l.acks >= count
					l.mu.Unlock()
					if reached {
						once.Do(enough)
					}
				}
			})
		}
	}
	writers.Wait()
}

// losePower makes later responses not count: a machine without power sends none.
func (l *ledger) losePower() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.powerless = true
}

// write writes the next version of a key, or drops it now and then.
func (l *ledger) write(d *devServer, kind, key string) bool {
	l.mu.Lock()
	l.highest[key]++
	version := l.highest[key]
	if version%5 == 0 {
		version = 0
	}
	l.under[key] = version
	l.mu.Unlock()
	q := url.Values{"kind": {kind}, "key": {key}, "version": {fmt.Sprint(version)}}
	resp, err := d.client.Get(d.URL + "/api/write?" + q.Encode())
	if err != nil {
		return false
	}
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || string(answer) != "written" {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.powerless {
		return false
	}
	l.acks++
	l.acknowledged[key] = version
	delete(l.under, key)
	return true
}

// check compares the stored values with the acknowledged ones. A write without a response
// may have happened or not: check adopts the stored value.
func (l *ledger) check(t *testing.T, d *devServer) {
	t.Helper()
	there := map[string]int{}
	a := d.get("/api/read")
	if err := json.Unmarshal([]byte(a.body), &there); err != nil {
		t.Fatalf("%v: %d %.300s", err, a.StatusCode, a.body)
	}
	for key := range l.under {
		if _, known := l.acknowledged[key]; !known {
			l.acknowledged[key] = 0
		}
	}
	for key, acknowledged := range l.acknowledged {
		found := there[key]
		if under, unknown := l.under[key]; found != acknowledged && (!unknown || found != under) {
			t.Errorf("%s is %d, acknowledged was %d (and %d under way: %t)", key, found, acknowledged, under, unknown)
		}
		l.acknowledged[key] = found
		delete(there, key)
	}
	for key, found := range there {
		t.Errorf("%s is %d without a write", key, found)
	}
	clear(l.under)
}

// TestBindingsKilled kills the dev server at random while a Worker writes to all of its bindings: each acknowledged write is there
// afterwards, and no write is there in part.
func TestBindingsKilled(t *testing.T) {
	rounds := 10
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		rounds = 200
	case testing.Short():
		rounds = 2
	}
	dir, l := writerSite(t), newLedger()
	for range rounds {
		d := startDev(t, dir)
		l.check(t, d)
		l.load(d, 10+rand.IntN(60), func() { //nolint:gosec // a choice
			if err := d.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		})
		_ = d.cmd.Wait() // killed
	}
	l.check(t, startDev(t, dir))
	t.Logf("%d writes were acknowledged in %d rounds", l.acks, rounds)
}
