package inbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// TestWriteTrace compares a waterfall, without its first lines, which have a time of this machine's zone and random ids.
func TestWriteTrace(t *testing.T) {
	began := time.UnixMilli(1_700_000_000_000)
	at := began
	wait := func(ms int) { at = at.Add(time.Duration(ms) * time.Millisecond) }
	r := &trace.Recorder{}
	r.Begin(began, func() time.Time { return at }, trace.Parent{})
	wait(2)
	gate := r.Start("gate")
	wait(3)
	gate.End(nil)
	wait(5)
	batch := r.Start("d1_batch", trace.Int(trace.DBBatchSize, 2))
	for range 2 {
		one := batch.Start("d1_query", trace.SQL(trace.QueryText, "INSERT INTO notes (text)\n\tVALUES (?)"))
		wait(10)
		one.End(nil, trace.Int(trace.RowsRead, 0), trace.Int(trace.RowsWritten, 1))
	}
	batch.End(nil)
	fetch := r.Start("fetch", trace.Text(trace.RequestMethod, "GET"), trace.URL(trace.FullURL, "https://api.example.org/a?q=1"))
	wait(50)
	fetch.End(nil, trace.Int(trace.StatusCode, 200))
	r.Start("kv_get", trace.Text(trace.KVKeys, "a\x1b[31mb")).End(errors.New("no\nplace"))
	for range 10 {
		r.Start("d1_query", trace.SQL(trace.QueryText, "SELECT "+strings.Repeat("a", 200)+" FROM t")).End(nil)
	}
	r.Start("r2_get", trace.Text(trace.R2Key, "a.bin"))
	r.Unassigned()
	wait(20)
	document := r.Seal().Document()
	request := devserver.LoggedRequest{
		RequestRecord: site.RequestRecord{ID: "req_1", Method: "GET", Path: "/a", Status: 200, Millis: 100, TraceID: document.ID},
		Logs:          []site.LogLine{{Level: "log", Text: "done"}}, Spans: &document,
	}
	var out strings.Builder
	WriteTrace(&out, request, false)
	_, got, _ := strings.Cut(out.String(), document.ID.String()+"\n")
	statement := "SELECT " + strings.Repeat("a", 92) + "…"
	repeated := strings.Repeat("       80.000     0.000 ms  |                        =     |  d1_query  "+statement+"\n", 10)
	want := `        2.000     3.000 ms  |==                            |  gate
       10.000    20.000 ms  |   ======                     |  d1_batch  2 statements
       10.000    10.000 ms  |   ===                        |    d1_query  INSERT INTO notes (text) VALUES (?)  (rows: 0 read, 1 written)
       20.000    10.000 ms  |      ===                     |    d1_query  INSERT INTO notes (text) VALUES (?)  (rows: 0 read, 1 written)
       30.000    50.000 ms  |         ===============      |  fetch  GET api.example.org/a?q=1  200
       80.000     0.000 ms  |                        =     |  kv_get  a\x1b[31mb  failed: no place
` + repeated + `       80.000    20.000 ms  |                        ======|  r2_get  a.bin  (goes on)
    1 call of bindings ran beside other requests: workerd does not say of which request
    hint: the same statement ran 10 times in this request: ` + statement + `
          Read or write all rows with one statement (a JOIN, or IN with a list), or send the statements as one batch.
    log: done
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out.Reset()
	request.Spans = nil
	WriteTrace(&out, request, false)
	if !strings.Contains(out.String(), "no steps") {
		t.Error(out.String())
	}
}
