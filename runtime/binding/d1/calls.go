package d1

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file serves calls from outside of an isolate: their place in the order of all calls, results in the form of D1's own
// service, and its sentences without the prefix that D1's client puts before them.

// Place takes the next place of a call of one query.
func (d *Database) Place(q Query) *hostcall.Turn {
	if onlyReads(q.SQL) {
		return d.queue.Read()
	}
	return d.queue.Write()
}

// Writes takes the next place of a call that may change something.
func (d *Database) Writes() *hostcall.Turn { return d.queue.Write() }

// Format is the form of the rows in a response.
type Format int

// The forms of rows.
const (
	Rows    Format = iota // {"columns": [name …], "rows": [[value …] …]}
	Objects               // an array of objects
)

func (f Format) shape() resultShape {
	if f == Objects {
		return shapeObjects
	}
	return shapeRows
}

// answers reports whether results are complete responses.
func (s resultShape) answers() bool { return s == shapeRows || s == shapeObjects || s == shapeMeta }

// opening returns the first bytes of a result.
func (s resultShape) opening() string {
	switch {
	case s == shapeAll:
		return "["
	case s == shapeMeta:
		return `{"success":true`
	case s.answers():
		return `{"success":true,"results":`
	}
	return ""
}

// Query returns the response to one query, {"success", "results", "meta"} as JSON, which is valid as long as the memory of ctx. begun is
// called once the snapshot of a read is fixed.
func (d *Database) Query(ctx context.Context, q Query, f Format, begun func()) ([]byte, error) {
	out, err := d.queryInTurn(ctx, q, f.shape(), "", begun)
	return out.bytes(), err
}

// Batch returns the array of responses to queries, which are one transaction.
func (d *Database) Batch(ctx context.Context, queries []Query, f Format) ([]byte, error) {
	out, err := d.batchShaped(ctx, queries, f.shape())
	return out.bytes(), err
}

// Exec returns the array of responses, without results, to lines of SQL, which are one transaction.
func (d *Database) Exec(ctx context.Context, lines []string) ([]byte, error) {
	w := newRowWriter(shapeMeta, "", bufferOf(ctx))
	w.b = append(w.b, '[')
	_, failed, cause := d.execLines(ctx, lines, w)
	w.b = append(w.b, ']')
	out, err := w.finish(cause)
	if err != nil && len(lines) > 0 {
		err = execError{err, prefixedError("D1_EXEC_ERROR", placeOf(lines, failed), cause)}
	}
	return out.bytes(), err
}

// execError is a failure of Exec. It wraps the error that D1's service has for it.
type execError struct {
	error

	worker error
}

// Unwrap returns the error of D1's service.
func (e execError) Unwrap() error { return e.error }

// WorkerError is the error that a Worker catches.
func (e execError) WorkerError() *engine.Error {
	if named, ok := errors.AsType[*engine.Error](e.worker); ok {
		return named
	}
	return &engine.Error{Name: "Error", Message: e.worker.Error()}
}

// appendNamedMeta ends a response with the meta of a D1Result, as d1.js makes it.
func (d *Database) appendNamedMeta(b []byte, before counters, duration string, spent rowCounts) ([]byte, error) {
	changes, rowID, changed, err := d.changesSince(before)
	if err != nil {
		return b, err
	}
	return fmt.Appendf(b, `,"meta":{"served_by":"pages","served_by_primary":true,"total_attempts":1,`+
		`"timings":{"sql_duration_ms":%[1]s},"duration":%[1]s,"changes":%d,"last_row_id":%d,"changed_db":%t,"size_after":%d,`+
		`"rows_read":%d,"rows_written":%d}}`, duration, changes, rowID, changed, d.size, spent.read, spent.written), nil
}

// Bookmark returns a new bookmark, which sorts after earlier ones, even across a restart, since it includes the time.
func (d *Database) Bookmark() string {
	for {
		last := d.marked.Load()
		next := max(last+1, d.o.Now().UnixMicro())
		if d.marked.CompareAndSwap(last, next) {
			hex := strconv.FormatInt(next, 16)
			hex = strings.Repeat("0", 16-len(hex)) + hex
			return hex[:8] + "-" + hex[8:] + "-00000000-" + strings.Repeat("0", 32)
		}
	}
}

// Sentence is the text of an error of a Database as D1's service gives it: its client puts "D1_ERROR: " before it.
func Sentence(err error) string {
	failed, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return err.Error()
	}
	for _, field := range failed.Props {
		if cause, ok := field.Value.(*engine.Error); ok && field.Name == "cause" {
			return cause.Message
		}
	}
	return failed.Message
}
