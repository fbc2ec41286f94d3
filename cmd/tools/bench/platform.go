package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The measures of `pages platform`, the tool API.
const (
	callRate    measure = "tool API, authenticated calls"
	callSpread  measure = "tool API, 99th percentile over median"
	pageDepth   measure = "content.status, a page of 1,000,000 at the worst depth"
	callMemory  measure = "tool API, memory grown over 1,000,000 calls"
	startFilled measure = "tool API, start with 1 GB of data"
	startEmpty  measure = "tool API, start with none"
	fewPieces   measure = "content.status, a page of 1,000"
)

const (
	manyPieces  = 1_000_000
	someCalls   = 1_000_000
	pieceBytes  = 800 // of a title: a million rows have over 1 GB with their indexes
	depths      = 10  // parts of a walk that are compared
	emptyData   = "an empty one"
	smallData   = "1,000 pieces"
	ratePromise = 3000
	tailPromise = 20
)

var platformPromises = []promise{
	{callRate, bound, callRate, "calls/s", true, 1},
	{callSpread, bound, callSpread, "times", false, 1},
	{pageDepth, smallData, fewPieces, "ms", false, 1 / 1.5},
	{startFilled, emptyData, startEmpty, "ms", false, 1. / 3},
	{callMemory, bound, callMemory, "MiB", false, 1},
}

// measurePlatform takes all rounds of the tool API in dir.
func (b *bench) measurePlatform(ctx context.Context, dir string) {
	d := &deploying{bench: b, pages: b.ourProgram(), dir: dir}
	few, many := filepath.Join(dir, "few"), filepath.Join(dir, "many")
	for data, n := range map[string]int{few: 1000, many: manyPieces} {
		b.say("making %d pieces", n)
		d.fill(ctx, data, n)
	}
	for round := range b.turns() {
		b.say("round %d of %d: the tool API", round+1, b.rounds)
		d.starts(ctx, filepath.Join(dir, fmt.Sprint("empty-", round)), many)
		d.walk(ctx, few, many)
	}
	d.calls(ctx, few)
}

// fill makes a data folder whose workspace has n pieces more.
func (d *deploying) fill(ctx context.Context, data string, n int) {
	d.serve(ctx, data)
	d.service.stop()
	db := must(sql.Open("sqlite", filepath.Join(data, "service.db")+"?_pragma=synchronous(OFF)"))
	_, err := db.ExecContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		INSERT INTO pieces (id, workspace_id, title, format, status, updated_at)
		SELECT 'bench-' || i, 1, substr(hex(randomblob(?2)), 1, ?2), 'posts', 'draft', i * 1000 FROM n`, n, pieceBytes)
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	// A gigabyte that is still being written would slow its readers.
	check(errors.Join(err, db.Close(), syncFile(filepath.Join(data, "service.db"), os.O_RDWR)))
}

// syncFile waits until a file or folder is on disk.
func syncFile(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// starts measures starts on an empty folder and on a full one.
func (d *deploying) starts(ctx context.Context, empty, full string) {
	d.serve(ctx, empty) // created before, so that both only open
	d.service.stop()
	for _, start := range []struct {
		data, side string
		measure    measure
	}{{empty, emptyData, startEmpty}, {full, us, startFilled}} {
		began := d.now()
		d.serve(ctx, start.data)
		d.addTime(start.side, start.measure, began)
		d.service.stop()
	}
}

// walk reads all pieces of a full folder page by page, alternating with pages of a small folder, and reports the tenth of the
// walk with the worst ratio.
func (d *deploying) walk(ctx context.Context, few, many string) {
	var sides [2]*walker // the full one first
	for i, data := range []string{many, few} {
		own := *d // the service is each side's own
		own.serve(ctx, data)
		defer own.service.stop()
		c := must(own.connect(ctx, own.key))
		defer c.Close()
		sides[i] = &walker{caller: c}
	}
	for begun := false; !begun || sides[0].cursor != ""; begun = true {
		for _, w := range sides {
			w.page(d.now)
		}
	}
	full, small := sides[0].times, sides[1].times
	worst := [2]float64{0, 1}
	for part := range depths {
		from, to := part*len(full)/depths, (part+1)*len(full)/depths
		if at := [2]float64{median(full[from:to]), median(small[from:to])}; at[0]/at[1] > worst[0]/worst[1] {
			worst = at
		}
	}
	d.results.add(us, pageDepth, worst[0])
	d.results.add(smallData, fewPieces, worst[1])
}

// walker reads all pieces of a workspace, and begins again at their end.
type walker struct {
	*caller

	cursor string
	times  []float64 // of each page, in milliseconds
}

func (w *walker) page(now func() time.Time) {
	body := `{"limit":100}`
	if w.cursor != "" {
		body = `{"limit":100,"cursor":"` + w.cursor + `"}`
	}
	began := now()
	res := must(w.call("content.status", body))
	w.times = append(w.times, milliseconds(now().Sub(began)))
	var page struct {
		OK   bool   `json:"ok"`
		Next string `json:"next_cursor"`
	}
	if err := json.Unmarshal(res, &page); err != nil || !page.OK {
		check(fmt.Errorf("content.status: %s %w", res, err))
	}
	w.cursor = page.Next
}

// calls makes a million calls and measures rate, latency and memory.
func (d *deploying) calls(ctx context.Context, data string) {
	d.say("a million calls")
	d.serve(ctx, data)
	defer d.service.stop()
	must(d.hammer(ctx, someCalls/10)) // warms up
	before := treeMemory(d.service.cmd.Process.Pid)
	began := d.now()
	times := must(d.hammer(ctx, someCalls))
	took := d.now().Sub(began)
	grown := float64(treeMemory(d.service.cmd.Process.Pid)-before) / mebibyte
	slices.Sort(times)
	d.results.add(us, callRate, float64(len(times))/took.Seconds())
	d.results.add(bound, callRate, ratePromise)
	d.results.add(us, callSpread, float64(times[len(times)*99/100])/float64(times[len(times)/2]))
	d.results.add(bound, callSpread, tailPromise)
	d.results.add(us, callMemory, max(1, grown))
	d.results.add(bound, callMemory, listGrowth)
}

// hammer makes calls on all connections, and returns how long each took.
func (d *deploying) hammer(ctx context.Context, n int) ([]time.Duration, error) {
	all := make([][]time.Duration, connections)
	err := atOnce(connections, func(i int) error {
		c, err := d.connect(ctx, []string{d.key, d.second}[i%2]) // a key may make a million calls a minute
		if err != nil {
			return err
		}
		defer c.Close()
		all[i] = make([]time.Duration, 0, n/connections)
		for range n / connections {
			began := d.now()
			res, err := c.call("brand_profile.status", "")
			if err != nil || !bytes.HasPrefix(res, []byte(`{"ok":true`)) {
				return fmt.Errorf("brand_profile.status: %.200s %w", res, err)
			}
			all[i] = append(all[i], d.now().Sub(began))
		}
		return nil
	})
	return slices.Concat(all...), err
}

// caller calls tools on one connection.
type caller struct {
	*requester

	head string
	body bytes.Buffer
}

func (d *deploying) connect(ctx context.Context, key string) (*caller, error) {
	u, err := url.Parse(d.url)
	if err != nil {
		return nil, err
	}
	r, err := connect(ctx, u.Host)
	if err != nil {
		return nil, err
	}
	return &caller{
		requester: r,
		head:      " HTTP/1.1\r\nHost: " + u.Host + "\r\nAuthorization: Bearer " + key + "\r\nContent-Type: application/json\r\n",
	}, nil
}

// call calls a tool and returns the body of the response, which is valid until the next call.
func (c *caller) call(tool, body string) ([]byte, error) {
	c.body.Reset()
	err := c.exchange(fmt.Sprintf("POST /api/v1/tools/%s%sContent-Length: %d\r\n\r\n%s", tool, c.head, len(body), body), &c.body)
	return c.body.Bytes(), err
}
