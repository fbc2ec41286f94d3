package d1

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// This file writes results as JSON: one native JSON.parse is many times faster than building objects value by value across
// the boundary.

// resultShape is the form of the result of a method of D1PreparedStatement.
type resultShape int

const (
	shapeAll      resultShape = iota // an object for each row, and the other fields of a D1Result
	shapeRaw                         // an array for each row
	shapeRawNamed                    // the same after an array of the columns' names
	shapeFirst                       // the first row's object, or null
	shapeColumn                      // one column of the first row, or null
	shapeNone                        // nothing
	shapeRows                        // a whole response of D1's service with columns and rows
	shapeObjects                     // the same with an object for each row
	shapeMeta                        // the same without rows
)

// rowWriter writes the rows of one statement, or of one after the other.
type rowWriter struct {
	jsonText

	shape  resultShape
	column string   // of shapeColumn
	rows   int      // of the statement
	keys   []string // of the columns, as JSON with the colon
	pick   int      // the index of column

	batch, span trace.Active // of the batch, and of the current statement
}

// dbSystem is the name of SQLite among OpenTelemetry's.
const dbSystem = "sqlite"

// beginSpan begins the span of a statement.
func (w *rowWriter) beginSpan(ctx context.Context, q Query) {
	recorder := trace.From(ctx)
	if recorder == nil {
		return
	}
	attributes := [...]trace.Attribute{trace.Word(trace.DBSystem, dbSystem), trace.SQL(trace.QueryText, q.SQL)}
	if w.batch != (trace.Active{}) {
		w.span = w.batch.Start("d1_query", attributes[:]...)
		return
	}
	w.span = recorder.Start("d1_query", attributes[:]...)
}

func newRowWriter(shape resultShape, column string, buffer func() *engine.Buffer) *rowWriter {
	return &rowWriter{shape: shape, column: column, jsonText: jsonText{buffer: buffer}}
}

func noRows() *rowWriter { return &rowWriter{shape: shapeNone} }

func (w *rowWriter) begin(s sqlStatement) {
	w.rows = 0
	switch w.shape {
	case shapeAll:
		w.keys = s.keys()
		w.b = append(w.b, '[')
	case shapeFirst:
		w.keys = s.keys()
	case shapeColumn:
		w.pick = -1
		for i, name := range s.columns() {
			if name == w.column {
				w.pick = i
			}
		}
	case shapeRawNamed:
		w.b = append(w.b, '[', '[')
		for i, name := range s.columns() {
			w.b = hostcall.AppendJSONString(hostcall.AppendComma(w.b, i), name)
		}
		w.b = append(w.b, ']')
	case shapeRows:
		w.b = append(w.b, `{"columns":[`...)
		for i, name := range s.columns() {
			w.b = hostcall.AppendJSONString(hostcall.AppendComma(w.b, i), name)
		}
		w.b = append(w.b, `],"rows":[`...)
	case shapeObjects:
		w.keys = s.keys()
		w.b = append(w.b, '[')
	case shapeRaw, shapeNone:
		w.b = append(w.b, '[')
	case shapeMeta:
	}
}

// row writes the statement's current row. done means that no further row is needed.
func (w *rowWriter) row(s sqlStatement) (done bool, err error) {
	w.rows++
	switch w.shape {
	case shapeColumn:
		if w.pick < 0 {
			return true, &engine.Error{
				Name: "Error", Message: "D1_COLUMN_NOTFOUND: Column not found (" + w.column + ")",
				Props: []engine.Field{{Name: "cause", Value: &engine.Error{Name: "Error", Message: "Column not found"}}},
			}
		}
		return true, w.value(s, w.pick)
	case shapeFirst:
		return true, w.object(s)
	case shapeAll, shapeObjects:
		w.b = hostcall.AppendComma(w.b, w.rows-1)
		err = w.object(s)
	case shapeRaw, shapeRows:
		w.b = hostcall.AppendComma(w.b, w.rows-1)
		err = w.array(s)
	case shapeRawNamed:
		w.b = append(w.b, ',')
		err = w.array(s)
	case shapeNone, shapeMeta:
	}
	return err != nil, err
}

func (w *rowWriter) end() {
	switch w.shape {
	case shapeAll, shapeRaw, shapeRawNamed, shapeNone, shapeObjects:
		w.b = append(w.b, ']')
	case shapeRows:
		w.b = append(w.b, "]}"...)
	case shapeMeta:
	case shapeFirst, shapeColumn:
		if w.rows == 0 {
			w.b = append(w.b, "null"...)
		}
	}
}

func (w *rowWriter) object(s sqlStatement) error {
	w.b = append(w.b, '{')
	for i, key := range w.keys {
		w.b = append(hostcall.AppendComma(w.b, i), key...)
		if err := w.value(s, i); err != nil {
			return err
		}
	}
	w.b = append(w.b, '}')
	return nil
}

func (w *rowWriter) array(s sqlStatement) error {
	w.b = append(w.b, '[')
	for i := range int(sqlite3.Xsqlite3_column_count(s.h.tls, s.stmt)) {
		w.b = hostcall.AppendComma(w.b, i)
		if err := w.value(s, i); err != nil {
			return err
		}
	}
	w.b = append(w.b, ']')
	return nil
}

// value writes column i: a BLOB is an array of numbers, as in D1.
func (w *rowWriter) value(s sqlStatement, i int) error {
	tls, stmt, at := s.h.tls, s.stmt, int32(i)
	switch sqlite3.Xsqlite3_column_type(tls, stmt, at) {
	case sqlite3.SQLITE_INTEGER:
		w.b = strconv.AppendInt(w.b, sqlite3.Xsqlite3_column_int64(tls, stmt, at), 10)
	case sqlite3.SQLITE_FLOAT:
		switch f := sqlite3.Xsqlite3_column_double(tls, stmt, at); { // D1's JSON has no infinity and no negative zero
		case math.IsInf(f, 0):
			w.b = append(w.b, "null"...)
		case f == 0:
			w.b = append(w.b, '0')
		default:
			w.b = strconv.AppendFloat(w.b, f, 'g', -1, 64)
		}
	case sqlite3.SQLITE_TEXT:
		p := sqlite3.Xsqlite3_column_text(tls, stmt, at)
		return w.writeString(columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)))
	case sqlite3.SQLITE_BLOB:
		p := sqlite3.Xsqlite3_column_blob(tls, stmt, at)
		return w.writeNumbers(columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)))
	default:
		w.b = append(w.b, "null"...)
	}
	return w.spill(jsonSpill)
}

// columnBytes is SQLite's own memory, valid until the statement moves on.
func columnBytes(p uintptr, n int32) []byte {
	if p == 0 || n <= 0 {
		return nil
	}
	return libc.GoBytes(p, int(n))
}

const (
	// maxResultBytes bounds the JSON of one result, and of all results of a batch.
	maxResultBytes = 64 << 20
	// jsonSpill is the length of JSON in bytes from which it moves to a Buffer.
	jsonSpill = 64 << 10
	// jsonPiece is the bytes of a value that are written between two checks of jsonSpill.
	jsonPiece = 16 << 10
)

// jsonText is the JSON of a call's results. Long JSON is in a Buffer, which reserves memory before it grows: with many
// concurrent results, some are refused while they grow.
type jsonText struct {
	b      []byte         // written last
	long   *engine.Buffer // before b; nil while the text is short
	buffer func() *engine.Buffer
}

// bufferOf makes buffers for the results of an Async, by its context.
func bufferOf(ctx context.Context) func() *engine.Buffer {
	return func() *engine.Buffer { return engine.NewBuffer(ctx, maxResultBytes, errResultSize) }
}

// spill moves b to the Buffer if it has at least so many bytes.
func (t *jsonText) spill(least int) error {
	if len(t.b) < least {
		return nil
	}
	if t.long == nil {
		t.long = t.buffer()
	}
	_, err := t.long.Write(t.b)
	t.b = t.b[:0]
	return err
}

func (t *jsonText) writeString(s []byte) error {
	t.b = append(t.b, '"')
	for len(s) > 0 {
		n := wholeCharacters(s, jsonPiece)
		t.b = hostcall.AppendJSONChars(t.b, s[:n])
		if err := t.spill(jsonSpill); err != nil {
			return err
		}
		s = s[n:]
	}
	t.b = append(t.b, '"')
	return nil
}

// wholeCharacters is the length of the longest prefix of s of at most n bytes that ends between characters.
func wholeCharacters(s []byte, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for back := range utf8.UTFMax {
		if utf8.RuneStart(s[n-back]) {
			return n - back
		}
	}
	return n
}

func (t *jsonText) writeNumbers(all []byte) error {
	t.b = append(t.b, '[')
	for i, v := range all {
		t.b = strconv.AppendUint(hostcall.AppendComma(t.b, i), uint64(v), 10)
		if i%jsonPiece == jsonPiece-1 {
			if err := t.spill(jsonSpill); err != nil {
				return err
			}
		}
	}
	t.b = append(t.b, ']')
	return t.spill(jsonSpill)
}

// finish returns the finished text, or D1's error of err; then it frees the Buffer.
func (t *jsonText) finish(err error) (*jsonText, error) {
	if err == nil && t.long != nil {
		err = t.spill(0)
	}
	if err == nil {
		return t, nil
	}
	if t.long != nil {
		t.long.Free()
	}
	return nil, prefixedError("D1_ERROR", "", err)
}

func (t *jsonText) value() any {
	switch {
	case t == nil:
		return nil
	case t.long != nil:
		return engine.JSONBuffer{Buffer: t.long}
	default:
		return json.RawMessage(t.b)
	}
}

// bytes is the text; valid until JavaScript gets it.
func (t *jsonText) bytes() []byte {
	switch {
	case t == nil:
		return nil
	case t.long != nil:
		return t.long.Bytes()
	default:
		return t.b
	}
}
