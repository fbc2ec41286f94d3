package d1

import (
	"math"
	"strconv"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file writes results as the JSON that becomes the Worker's objects:
// one native JSON.parse is many times faster than building them value by
// value across the boundary.

// resultShape is what a method of D1PreparedStatement resolves to.
type resultShape int

const (
	shapeAll      resultShape = iota // an object for each row, and what makes them a D1Result
	shapeRaw                         // an array for each row
	shapeRawNamed                    // the same behind an array of the columns' names
	shapeFirst                       // the first row's object, or null
	shapeColumn                      // one column of the first row, or null
	shapeNone                        // nothing
)

// rowWriter writes the rows of one statement, or of one after the other.
type rowWriter struct {
	jsonText

	shape  resultShape
	column string   // of shapeColumn
	rows   int      // of the statement
	keys   []string // of the columns, as JSON with the colon
	pick   int      // the index of column
}

// newRowWriter returns a writer of rows in a shape; buffer is for what is long.
func newRowWriter(shape resultShape, column string, buffer func() *engine.Buffer) *rowWriter {
	return &rowWriter{shape: shape, column: column, jsonText: jsonText{buffer: buffer}}
}

// noRows is a writer of no rows.
func noRows() *rowWriter { return &rowWriter{shape: shapeNone} }

// begin reads the columns, and writes what stands before the first row.
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
	case shapeRaw, shapeNone:
		w.b = append(w.b, '[')
	}
}

// row adds the row the statement stands on. done means that no further row
// matters.
func (w *rowWriter) row(s sqlStatement) (done bool, err error) {
	w.rows++
	switch w.shape {
	case shapeColumn:
		if w.pick < 0 {
			return true, columnNotFound(w.column)
		}
		return true, w.value(s, w.pick)
	case shapeFirst:
		return true, w.object(s)
	case shapeAll:
		w.b = hostcall.AppendComma(w.b, w.rows-1)
		err = w.object(s)
	case shapeRaw:
		w.b = hostcall.AppendComma(w.b, w.rows-1)
		err = w.array(s)
	case shapeRawNamed:
		w.b = append(w.b, ',')
		err = w.array(s)
	case shapeNone:
	}
	return err != nil, err
}

// end writes what stands behind the last row.
func (w *rowWriter) end() {
	switch w.shape {
	case shapeAll, shapeRaw, shapeRawNamed, shapeNone:
		w.b = append(w.b, ']')
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
		w.b = appendJSONFloat(w.b, sqlite3.Xsqlite3_column_double(tls, stmt, at))
	case sqlite3.SQLITE_TEXT:
		p := sqlite3.Xsqlite3_column_text(tls, stmt, at)
		return w.text(columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)))
	case sqlite3.SQLITE_BLOB:
		p := sqlite3.Xsqlite3_column_blob(tls, stmt, at)
		return w.numbers(columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)))
	default:
		w.b = append(w.b, "null"...)
	}
	return w.spill()
}

// columnBytes is SQLite's own memory, valid until the statement moves on.
func columnBytes(p uintptr, n int32) []byte {
	if p == 0 || n <= 0 {
		return nil
	}
	return libc.GoBytes(p, int(n))
}

// appendJSONFloat writes f as D1's JSON has it: no infinity, and no negative zero.
func appendJSONFloat(b []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 0):
		return append(b, "null"...)
	case f == 0:
		return append(b, '0')
	default:
		return strconv.AppendFloat(b, f, 'g', -1, 64)
	}
}
