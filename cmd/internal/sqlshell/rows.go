package sqlshell

import (
	"bufio"
	"io"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// RowWriter writes the rows of a query.
type RowWriter struct {
	out     *bufio.Writer
	sent    *counter // counts the bytes that left the buffer
	columns []string // nil before begin
	format  rowFormat
	b       []byte
}

// rowFormat formats rows: each method appends its output to b.
type rowFormat interface {
	head(b []byte, columns []string) []byte
	row(b []byte, values []any) []byte
	foot(b []byte) []byte
}

// NewRowWriter returns a writer for one of the formats table, tsv, csv, json and jsonl. For a terminal, control characters are
// escaped.
func NewRowWriter(out io.Writer, terminal bool, format string) (*RowWriter, error) {
	sent := &counter{w: out}
	if terminal && (format == "tsv" || format == "csv") {
		sent.w = wording.NewEscaper(out)
	}
	w := &RowWriter{out: bufio.NewWriterSize(sent, 64<<10), sent: sent}
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
		return nil, failure.Usage("--format is %q; it must be one of table, tsv, csv, json, jsonl", format)
	}
	return w, nil
}

// Begin writes the header with the names of the columns.
func (w *RowWriter) Begin(columns []string) error {
	w.columns = columns
	return w.write(w.format.head(w.b[:0], columns))
}

// Row writes one row.
func (w *RowWriter) Row(values []any) error { return w.write(w.format.row(w.b[:0], values)) }

// End writes the footer. For a statement without columns, only JSON has a document.
func (w *RowWriter) End() error {
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

// Abort ends the output after a failure. If no part of a JSON document was sent, the failure becomes the document.
func (w *RowWriter) Abort() error {
	if w.isDocument() && w.sent.n == 0 {
		return nil
	}
	return w.End()
}

// isDocument reports whether the whole output is one JSON document.
func (w *RowWriter) isDocument() bool {
	_, ok := w.format.(*jsonRows)
	return ok
}

func (w *RowWriter) write(b []byte) error {
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
