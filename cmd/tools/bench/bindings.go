package main

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// The peer of a loop of queries in a Worker.
const databaseSQL = "database/sql"

const (
	selectRate   measure = "D1, a row selected"
	insertRate   measure = "D1, a row inserted"
	batchRate    measure = "D1, a batch of 50 inserts"
	kvGetRate    measure = "KV get"
	kvPutRate    measure = "KV put"
	storagePut   measure = "R2 put of 1 MB"
	storageGet   measure = "R2 get of 1 MB"
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
	// listGrowth is in MiB: a list is flat when its end has no more memory than its
	// first hundredth, give or take what the collector leaves.
	listGrowth = 16
)

// bindingRates are loaded with requests; the Worker has a route for each.
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

const (
	bindingsConfig = `{"entry": "src/bindings.mjs", "assets": "public", "routes": [{"pattern": "/api/*"}], "limits": {"cpuMs": 30000},
  "bindings": {"database": {"migrations": "migrations"}, "kv": {"name": "KV"}, "storage": {"name": "BUCKET"}}}`
	bindingsWrangler = `{"name": "bench", "main": "src/bindings.mjs", "compatibility_date": "2026-10-01", "assets": {"directory": "public"},
  "d1_databases": [{"binding": "DB", "database_name": "bench", "database_id": "bench"}],
  "kv_namespaces": [{"binding": "KV", "id": "bench"}], "r2_buckets": [{"binding": "BUCKET", "bucket_name": "bench"}]}`
)

// measureBindings takes all rounds of the bindings.
func (b *bench) measureBindings(ctx context.Context, dir string) error {
	sides, err := b.workers(ctx, dir)
	if err != nil {
		return err
	}
	for _, s := range sides {
		if err := writeBindings(s.site); err != nil {
			return err
		}
	}
	rounds := 0
	err = b.rotate(sides, "the bindings of ", func(s *side) error {
		if s.name == us {
			rounds++
			if err := b.loopInGo(ctx, filepath.Join(dir, "loop-"+strconv.Itoa(rounds)+".db")); err != nil {
				return err
			}
		}
		return b.turnBindings(ctx, s)
	})
	if err != nil {
		return err
	}
	return b.lists(ctx, sides[0])
}

// writeBindings puts the Worker that is measured into a site, and its bindings.
func writeBindings(site string) error {
	return errors.Join(
		os.MkdirAll(filepath.Join(site, "migrations"), 0o755),
		os.WriteFile(filepath.Join(site, "src", "bindings.mjs"), bindingsWorker, 0o600),
		os.WriteFile(filepath.Join(site, "pages.deploy.json"), []byte(bindingsConfig), 0o600),
		os.WriteFile(filepath.Join(site, "wrangler.jsonc"), []byte(bindingsWrangler), 0o600),
	)
}

// turnBindings measures a side once.
func (b *bench) turnBindings(ctx context.Context, s *side) error {
	srv, err := b.start(ctx, s, s.home)
	if err != nil {
		return err
	}
	defer srv.stop()
	if _, err := fetch(ctx, srv.url+"/api/setup"); err != nil {
		return err
	}
	for _, r := range bindingRates {
		if err := b.rate(ctx, s.name, r.measure, srv.url+r.path, time.Second); err != nil {
			return err
		}
	}
	return b.sample(s.name, selectLoop, func() error {
		_, err := fetch(ctx, srv.url+"/api/loop")
		return err
	})
}

// sample adds the median of the times that something takes.
func (b *bench) sample(side string, m measure, what func() error) error {
	var took []float64
	for range samples {
		began := b.now()
		if err := what(); err != nil {
			return err
		}
		took = append(took, milliseconds(b.now().Sub(began)))
	}
	b.results.add(side, m, median(took))
	return nil
}

// loopInGo is the loop of the Worker, in Go.
func (b *bench) loopInGo(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n REAL NOT NULL);
		WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?)
		INSERT INTO rows SELECT id, 'row ' || id, (id - 1) / 4.0 FROM ids`, loopedRows)
	if err != nil {
		return err
	}
	return b.sample(databaseSQL, selectLoop, func() error {
		for at := range loopedRows {
			var id, n float64
			var name string
			if err := db.QueryRowContext(ctx, "SELECT id, name, n FROM rows WHERE id = ?", at+1).Scan(&id, &name, &n); err != nil {
				return err
			}
		}
		return nil
	})
}

// lists measures ours alone: what its memory grows by over a list of many pages.
func (b *bench) lists(ctx context.Context, s *side) error {
	b.say("filling %d keys and %d MiB of objects", listedKeys, listedBytes>>20)
	if err := fillKeys(ctx, filepath.Join(s.site, ".pages", "state", "kv.db")); err != nil {
		return err
	}
	srv, err := b.start(ctx, s, s.home)
	if err != nil {
		return err
	}
	defer srv.stop()
	for at := 0; at < listedBytes/objectBytes; at += filledAtOnce {
		if _, err := fetch(ctx, srv.url+"/api/storage/fill?from="+strconv.Itoa(at)); err != nil {
			return err
		}
	}
	err = b.list(ctx, srv, "/api/kv/list", keysListed, keysTime, page{Count: listedKeys})
	return errors.Join(
		err,
		b.list(ctx, srv, "/api/storage/list", bytesListed, bytesTime, page{Count: listedBytes / objectBytes, Size: listedBytes}),
	)
}

// fillKeys writes keys as the binding would, a thousand a second faster: each of its
// own puts is a commit.
func fillKeys(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?)
		INSERT INTO kv (key, value, metadata)
			SELECT CAST(printf('listed/%09d', n) AS BLOB), CAST('a value' AS BLOB), json_object('n', n) FROM n`, listedKeys)
	return errors.Join(err, db.Close())
}

// page is what the Worker tells of a page of a list.
type page struct {
	Count  int    `json:"count"`
	Size   int64  `json:"size"`
	Cursor string `json:"cursor"`
}

// list reads a whole list, page by page, and adds how much memory grew after the
// first passes of it.
func (b *bench) list(ctx context.Context, srv *server, path string, grown, took measure, want page) error {
	var before int64
	var times []float64
	for pass := range 2 { // the first one warms up caches, which have their bounds
		var all page
		for begun := false; !begun || all.Cursor != ""; begun = true {
			began := b.now()
			text, err := fetch(ctx, srv.url+path+"?cursor="+url.QueryEscape(all.Cursor))
			if err != nil {
				return err
			}
			times = append(times, milliseconds(b.now().Sub(began)))
			var p page
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				return err
			}
			all = page{all.Count + p.Count, all.Size + p.Size, p.Cursor}
		}
		if all != want {
			return fmt.Errorf("%s gave %d of %d keys and %d of %d bytes", path, all.Count, want.Count, all.Size, want.Size)
		}
		if pass == 0 {
			before = treeMemory(srv.cmd.Process.Pid)
		}
	}
	b.results.add(us, took, median(times))
	b.results.add(us, grown, max(1, float64(treeMemory(srv.cmd.Process.Pid)-before)/(1<<20)))
	b.results.add(bound, grown, listGrowth)
	return nil
}
