package main

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// The peer of a loop of queries in a Worker.
const databaseSQL = "database/sql"

// The peer of the bindings in a process of Node.js.
const platformProxy = "getPlatformProxy"

const (
	selectRate   measure = "D1, a row selected"
	insertRate   measure = "D1, a row inserted"
	batchRate    measure = "D1, a batch of 50 inserts"
	kvGetRate    measure = "KV get"
	kvPutRate    measure = "KV put"
	storagePut   measure = "R2 put of 1 MB"
	storageGet   measure = "R2 get of 1 MB"
	nodeRate     measure = "D1, a row selected, from Node.js"
	selectLoop   measure = "D1, 1,000 awaited selects in a request"
	keysListed   measure = "1,000,000 KV keys listed, memory grown"
	keysTime     measure = "1,000,000 KV keys listed, a page"
	bytesListed  measure = "10 GB of objects listed, memory grown"
	bytesTime    measure = "10 GB of objects listed, a page"
	listedKeys           = 1_000_000
	listedBytes          = 10 << 30
	objectBytes          = 1 << 20
	filledAtOnce         = 20 // objects, as the Worker fills them
	loopedRows           = 1000
	// listGrowth is in MiB: the memory of a list may grow by this much after its first hundredth,
	// for uncollected garbage.
	listGrowth = 16
)

// bindingRates are the rates measured under load; the Worker has a route for each.
var bindingRates = []loadedPath{
	{selectRate, "/api/select"},
	{insertRate, "/api/insert"},
	{batchRate, "/api/batch"},
	{kvGetRate, "/api/kv/get"},
	{kvPutRate, "/api/kv/put"},
	{storagePut, "/api/storage/put"},
	{storageGet, "/api/storage/get"},
}

func bindingPromises() (all []promise) {
	for _, r := range bindingRates {
		all = append(all, promise{r.measure, wranglerDev, r.measure, "req/s", true, 5})
	}
	return append(all,
		promise{nodeRate, platformProxy, nodeRate, "req/s", true, 5},
		promise{selectLoop, databaseSQL, selectLoop, "ms", false, 1.0 / 2},
		promise{selectLoop, wranglerDev, selectLoop, "ms", false, 0},
		promise{keysListed, bound, keysListed, "MiB", false, 1},
		promise{keysTime, bound, keysTime, "ms", false, 0},
		promise{bytesListed, bound, bytesListed, "MiB", false, 1},
		promise{bytesTime, bound, bytesTime, "ms", false, 0},
	)
}

//go:embed bindings.mjs
var bindingsWorker []byte

//go:embed bindings-node.mjs
var bindingsNode []byte

const (
	bindingsConfig = `{"entry": "src/bindings.mjs", "assets": "public", "routes": [{"pattern": "/api/*"}], "limits": {"cpuMs": 30000},
  "bindings": {"database": {"migrations": "migrations"}, "kv": {"name": "KV"}, "storage": {"name": "BUCKET"}}}`
	bindingsWrangler = `{"name": "bench", "main": "src/bindings.mjs", "compatibility_date": "2026-10-01", "assets": {"directory": "public"},
  "d1_databases": [{"binding": "DB", "database_name": "bench", "database_id": "bench"}],
  "kv_namespaces": [{"binding": "KV", "id": "bench"}], "r2_buckets": [{"binding": "BUCKET", "bucket_name": "bench"}]}`
)

// measureBindings takes all rounds of the bindings.
func (b *bench) measureBindings(ctx context.Context, dir string) {
	sides := b.workers(ctx, dir)
	for _, s := range sides {
		writeFiles(s.site, map[string]string{
			"src/bindings.mjs": string(bindingsWorker), "pages.deploy.json": bindingsConfig, "wrangler.jsonc": bindingsWrangler,
		})
		check(os.MkdirAll(filepath.Join(s.site, "migrations"), 0o755))
	}
	rounds := 0
	b.rotate(sides, "the bindings of ", func(s *side) {
		if s.name == us {
			rounds++
			b.loopInGo(ctx, filepath.Join(dir, "loop-"+strconv.Itoa(rounds)+".db"))
		}
		b.turnBindings(ctx, s)
		b.selectFromNode(ctx, s)
	})
	if why := b.absent[wranglerDev]; why != "" {
		b.absent[platformProxy] = why
	}
	b.lists(ctx, sides[0])
}

// turnBindings measures a side once.
func (b *bench) turnBindings(ctx context.Context, s *side) {
	srv := b.start(ctx, s, s.home)
	defer srv.stop()
	srv.get(ctx, "/api/setup")
	for _, r := range bindingRates {
		b.rate(ctx, s.name, r.measure, srv.url+r.path, time.Second)
	}
	b.sample(s.name, selectLoop, func() { srv.get(ctx, "/api/loop") })
}

// selectFromNode measures the bindings of a process of Node.js, on the rows that the Worker has made.
func (b *bench) selectFromNode(ctx context.Context, s *side) {
	node, err := exec.LookPath(cmp.Or(b.node, "node"))
	if err != nil {
		return // then wrangler is missing, too
	}
	writeFiles(s.site, map[string]string{"bindings-node.mjs": string(bindingsNode)})
	kind, module, name := "pages", must(filepath.Abs(filepath.Join("npm", "index.mjs"))), us
	if s.name != us {
		command := must(b.wranglerCommand(ctx))
		kind, module, name = "wrangler", filepath.Dir(filepath.Dir(command[1])), platformProxy
	}
	b.say("%s, from Node.js", name)
	cmd := exec.CommandContext(ctx, node, filepath.Join(s.site, "bindings-node.mjs"), kind, module, s.site)
	cmd.Dir, cmd.Stderr = s.site, b.stderr
	cmd.Env = append(s.environment(b.environ, s.home), "PAGES_PROGRAM="+b.ourProgram())
	out, err := cmd.Output()
	if err != nil {
		check(fmt.Errorf("node bindings-node.mjs %s: %w", kind, err))
	}
	b.results.add(name, nodeRate, must(strconv.ParseFloat(strings.TrimSpace(string(out)), 64)))
}

// loopInGo is the loop of the Worker, in Go.
func (b *bench) loopInGo(ctx context.Context, file string) {
	db := must(sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"))
	defer db.Close()
	must(db.ExecContext(ctx, `CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n REAL NOT NULL);
		WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?)
		INSERT INTO rows SELECT id, 'row ' || id, (id - 1) / 4.0 FROM ids`, loopedRows))
	b.sample(databaseSQL, selectLoop, func() {
		for at := range loopedRows {
			var id, n float64
			var name string
			check(db.QueryRowContext(ctx, "SELECT id, name, n FROM rows WHERE id = ?", at+1).Scan(&id, &name, &n))
		}
	})
}

// lists measures the growth of our memory over a list of many pages.
func (b *bench) lists(ctx context.Context, s *side) {
	b.say("filling %d keys and %d MiB of objects", listedKeys, listedBytes/mebibyte)
	fillKeys(ctx, filepath.Join(s.site, ".pages", "state", "kv.db"))
	srv := b.start(ctx, s, s.home)
	defer srv.stop()
	for at := 0; at < listedBytes/objectBytes; at += filledAtOnce {
		srv.get(ctx, "/api/storage/fill?from="+strconv.Itoa(at))
	}
	err := try(func() { b.list(ctx, srv, "/api/kv/list", keysListed, keysTime, page{Count: listedKeys}) })
	b.list(ctx, srv, "/api/storage/list", bytesListed, bytesTime, page{Count: listedBytes / objectBytes, Size: listedBytes})
	check(err)
}

// fillKeys writes keys in the binding's format, but a thousand times faster: each put of the binding is a commit.
func fillKeys(ctx context.Context, file string) {
	db := must(sql.Open("sqlite", "file:"+filepath.ToSlash(file)))
	_, err := db.ExecContext(ctx, `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?)
		INSERT INTO kv (key, value, metadata)
			SELECT CAST(printf('listed/%09d', n) AS BLOB), CAST('a value' AS BLOB), json_object('n', n) FROM n`, listedKeys)
	check(errors.Join(err, db.Close()))
}

// page is the Worker's summary of a page of a list.
type page struct {
	Count  int    `json:"count"`
	Size   int64  `json:"size"`
	Cursor string `json:"cursor"`
}

// list reads a whole list, page by page, and adds how much memory grew after the first pass.
func (b *bench) list(ctx context.Context, srv *server, path string, grown, took measure, want page) {
	var before int64
	var times []float64
	for pass := range 2 { // the first one warms up caches, which have their bounds
		var all page
		for begun := false; !begun || all.Cursor != ""; begun = true {
			began := b.now()
			text := srv.get(ctx, path+"?cursor="+url.QueryEscape(all.Cursor))
			times = append(times, milliseconds(b.now().Sub(began)))
			var p page
			check(json.Unmarshal([]byte(text), &p))
			all = page{all.Count + p.Count, all.Size + p.Size, p.Cursor}
		}
		if all != want {
			check(fmt.Errorf("%s gave %d of %d keys and %d of %d bytes", path, all.Count, want.Count, all.Size, want.Size))
		}
		if pass == 0 {
			before = treeMemory(srv.cmd.Process.Pid)
		}
	}
	b.results.add(us, took, median(times))
	b.results.add(us, grown, max(1, float64(treeMemory(srv.cmd.Process.Pid)-before)/mebibyte))
	b.results.add(bound, grown, listGrowth)
}
