package main

import (
	"bufio"
	"io"
)

// rowWriter writes the rows of a query to stdout.
type rowWriter struct {
	out     *bufio.Writer
	sent    *counter // what has left out
	columns []string // nil before begin
	format  rowFormat
	b       []byte
}

// rowFormat lays rows out: each method appends what is to be written.
type rowFormat interface {
	head(b []byte, columns []string) []byte
	row(b []byte, values []any) []byte
	foot(b []byte) []byte
}

func (c *cli) newRows(format string) (*rowWriter, error) {
	switch {
	case c.json && format != "" && format != "json":
		return nil, usageError("--json and --format %s ask for two things", format)
	case c.json:
		format = "json"
	case format == "" && isTerminal(c.stdout):
		format = "table"
	case format == "":
		format = "tsv"
	}
	sent := &counter{w: c.stdout}
	if isTerminal(c.stdout) && (format == "tsv" || format == "csv") {
		sent.w = &shownText{to: c.stdout}
	}
	w := &rowWriter{out: bufio.NewWriterSize(sent, 64<<10), sent: sent}
	switch format {
	case "table":
		w.format = &tableRows{}
	case "tsv":
		w.format = tsvRows{}
	case "csv":
		w.format = csvRows{}
	case "json":
		w.format = &jsonRows{}
	case "jsonl":
		w.format = &jsonLines{}
	default:
		return nil, usageError("--format is %q; it is one of table, tsv, csv, json, jsonl", format)
	}
	return w, nil
}

func (w *rowWriter) begin(columns []string) error {
	w.columns = columns
	return w.write(w.format.head(w.b[:0], columns))
}

func (w *rowWriter) row(values []any) error { return w.write(w.format.row(w.b[:0], values)) }

// end writes what stands behind the last row. What gave no columns is a document in
// JSON alone.
func (w *rowWriter) end() error {
	b := w.b[:0]
	if w.columns == nil {
		if !w.isDocument() {
			return w.out.Flush()
		}
		b = w.format.head(b, []string{})
	}
	if err := w.write(w.format.foot(b)); err != nil {
		return err
	}
	return w.out.Flush()
}

// abort gives out the rows there were before a failure, unless the failure can be the whole document instead.
func (w *rowWriter) abort() error {
	if w.isDocument() && w.sent.n == 0 {
		return nil
	}
	return w.end()
}

// isDocument reports whether all that is written is one document in JSON.
func (w *rowWriter) isDocument() bool {
	_, ok := w.format.(*jsonRows)
	return ok
}

func (w *rowWriter) write(b []byte) error {
	w.b = b // for the next row
	_, err := w.out.Write(b)
	return err
}

// counter counts the bytes that reach a writer.
type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
