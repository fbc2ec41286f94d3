package binding

import (
	"math"
	"strconv"
	"unicode/utf8"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

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

// maxResultBytes bounds the JSON of one result, and of all results of a batch.
const maxResultBytes = 64 << 20

// rowWriter collects the rows of one statement.
type rowWriter struct {
	shape  resultShape
	column string // of shapeColumn
	buf    []byte
	rows   int
	keys   []string // of the columns, as JSON with the colon
	pick   int      // the index of column
}

// begin reads the columns, and writes what stands before the first row.
func (w *rowWriter) begin(s sqlStatement) {
	w.buf = append(w.buf, '[')
	switch w.shape {
	case shapeAll, shapeFirst:
		w.keys = s.keys()
	case shapeColumn:
		w.pick = -1
		for i, name := range s.columns() {
			if name == w.column {
				w.pick = i
			}
		}
	case shapeRawNamed:
		w.buf = append(w.buf, '[')
		for i, name := range s.columns() {
			w.buf = appendJSONString(appendComma(w.buf, i), name)
		}
		w.buf = append(w.buf, ']')
	default: // has no use for names
	}
}

// row adds the row the statement stands on. done means that no further row
// matters.
func (w *rowWriter) row(s sqlStatement) (done bool, err error) {
	w.rows++
	switch w.shape {
	case shapeNone:
		return false, nil
	case shapeColumn:
		if w.pick < 0 {
			return true, columnNotFound(w.column)
		}
		w.buf = s.appendValue(w.buf[:0], w.pick)
		return true, nil
	case shapeFirst:
		w.buf = w.appendObject(w.buf[:0], s)
		return true, nil
	case shapeAll:
		w.buf = w.appendObject(appendComma(w.buf, w.rows-1), s)
	case shapeRaw:
		w.buf = s.appendArray(appendComma(w.buf, w.rows-1))
	case shapeRawNamed:
		w.buf = s.appendArray(append(w.buf, ','))
	}
	if len(w.buf) > maxResultBytes {
		return true, errResultSize
	}
	return false, nil
}

// end gives the JSON of the rows.
func (w *rowWriter) end() []byte {
	if w.shape != shapeFirst && w.shape != shapeColumn {
		return append(w.buf, ']')
	}
	if w.rows == 0 {
		return []byte("null")
	}
	return w.buf
}

func (w *rowWriter) appendObject(b []byte, s sqlStatement) []byte {
	b = append(b, '{')
	for i, key := range w.keys {
		b = append(appendComma(b, i), key...)
		b = s.appendValue(b, i)
	}
	return append(b, '}')
}

func (s sqlStatement) appendArray(b []byte) []byte {
	b = append(b, '[')
	for i := range int(sqlite3.Xsqlite3_column_count(s.h.tls, s.stmt)) {
		b = s.appendValue(appendComma(b, i), i)
	}
	return append(b, ']')
}

// appendValue writes column i: a BLOB is an array of numbers, as in D1.
func (s sqlStatement) appendValue(b []byte, i int) []byte {
	tls, stmt, at := s.h.tls, s.stmt, int32(i)
	switch sqlite3.Xsqlite3_column_type(tls, stmt, at) {
	case sqlite3.SQLITE_INTEGER:
		return strconv.AppendInt(b, sqlite3.Xsqlite3_column_int64(tls, stmt, at), 10)
	case sqlite3.SQLITE_FLOAT:
		return appendJSONFloat(b, sqlite3.Xsqlite3_column_double(tls, stmt, at))
	case sqlite3.SQLITE_TEXT:
		p := sqlite3.Xsqlite3_column_text(tls, stmt, at)
		return appendJSONString(b, columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)))
	case sqlite3.SQLITE_BLOB:
		p := sqlite3.Xsqlite3_column_blob(tls, stmt, at)
		b = append(b, '[')
		for n, v := range columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)) {
			b = strconv.AppendUint(appendComma(b, n), uint64(v), 10)
		}
		return append(b, ']')
	default:
		return append(b, "null"...)
	}
}

// columnBytes is SQLite's own memory, valid until the statement moves on.
func columnBytes(p uintptr, n int32) []byte {
	if p == 0 || n <= 0 {
		return nil
	}
	return libc.GoBytes(p, int(n))
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
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

// appendJSONString writes s as a JSON string; what is not UTF-8 becomes
// U+FFFD, as engine.DecodeUTF8 counts them.
func appendJSONString[T string | []byte](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			sequence := []byte(s[i:min(i+utf8.UTFMax, len(s))])
			n, ok := engine.UTF8Sequence(sequence)
			if ok {
				b = append(b, sequence[:n]...)
			} else {
				b = utf8.AppendRune(b, utf8.RuneError)
			}
			i += n
			continue
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}
