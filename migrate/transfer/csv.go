package transfer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/token"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// field is one value of a record.
type field struct {
	text   string
	quoted bool
	pos    token.Position
}

// csvReader reads records of comma-separated values (RFC 4180); each may span lines. It also accepts lines that end in LF
// or CR, and a last line without an end. encoding/csv does not distinguish an empty field (NULL) from a quoted empty one
// ("").
type csvReader struct {
	r   *bufio.Reader
	pos token.Position // of the next byte
	buf []byte
	end bool // at the end of the input
}

// maxField bounds a field: a quote that never ends must not take all memory.
const maxField = 256 << 20

// byte reads one byte, CRLF and CR as LF.
func (c *csvReader) byte() (byte, error) {
	b, err := c.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if b == '\r' {
		if next, err := c.r.Peek(1); err == nil && next[0] == '\n' {
			_, _ = c.r.ReadByte() // never fails after Peek
		}
		b = '\n'
	}
	switch {
	case b == '\n':
		c.pos.Line, c.pos.Column = c.pos.Line+1, 1
	case b < utf8.RuneSelf || b >= 0xc0: // the first byte of a character
		c.pos.Column++
	}
	return b, nil
}

// record reads the next record into fields, which it returns; io.EOF is the end. It skips blank lines.
func (c *csvReader) record(fields []field) ([]field, error) {
	for {
		fields = fields[:0]
		for more := true; more; {
			f, end, err := c.field()
			if err != nil {
				if errors.Is(err, io.EOF) && len(fields) == 0 {
					return nil, io.EOF
				}
				return nil, err
			}
			fields = append(fields, f)
			more = end == ','
		}
		if len(fields) > 1 || fields[0].text != "" || fields[0].quoted {
			return fields, nil
		}
	}
}

// field reads one field and its end: ',' or '\n'. It returns io.EOF only at the end of the input.
func (c *csvReader) field() (f field, end byte, err error) {
	f.pos = c.pos
	c.buf = c.buf[:0]
	first := true
	for {
		at := c.pos
		b, err := c.byte()
		if errors.Is(err, io.EOF) {
			if first && (c.end || at.Column == 1) {
				return f, 0, io.EOF
			}
			b, c.end = '\n', true
		} else if err != nil {
			return f, 0, err
		}
		switch {
		case b == '"' && first:
			if end, err = c.readQuoted(f.pos); err != nil {
				return f, 0, err
			}
			f.quoted = true
			f.text, err = c.text(f.pos)
			return f, end, err
		case b == '"':
			return f, 0, &Error{
				Pos: at, Code: CodeCSV, Msg: "a quote inside a field that does not begin with a quote",
				Fix: `put the whole field in quotes and double this quote: "a ""b"""`,
			}
		case b == ',' || b == '\n':
			f.text, err = c.text(f.pos)
			return f, b, err
		}
		c.buf = append(c.buf, b)
		first = false
	}
}

// readQuoted reads a field after its first quote, and its end.
func (c *csvReader) readQuoted(begin token.Position) (end byte, err error) {
	for {
		// The bytes of a quoted field are kept as they are, line ends too.
		err = c.chunk()
		if errors.Is(err, bufio.ErrBufferFull) && len(c.buf) <= maxField {
			continue
		}
		if err != nil || len(c.buf) > maxField {
			if err == nil || errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
				err = &Error{
					Pos: begin, Code: CodeCSV, Msg: "the quote that begins this field never ends",
					Fix: `end it with ", and double each quote inside`,
				}
			}
			return 0, err
		}
		at := c.pos
		b, err := c.byte()
		switch {
		case errors.Is(err, io.EOF):
			b, c.end = '\n', true
		case err != nil:
			return 0, err
		case b == '"':
			continue // a doubled quote is one, which is in buf already
		}
		c.buf = c.buf[:len(c.buf)-1]
		if b != ',' && b != '\n' {
			return 0, &Error{
				Pos: at, Code: CodeCSV,
				Msg: fmt.Sprintf("%q follows the quote that ends a field", string(rune(b))),
				Fix: "put a comma there, or double the quote",
			}
		}
		return b, nil
	}
}

// chunk reads on to the next quote, or as far as the reader's buffer goes.
func (c *csvReader) chunk() error {
	chunk, err := c.r.ReadSlice('"')
	begin := len(c.buf)
	c.buf = append(c.buf, chunk...)
	if bytes.HasSuffix(chunk, []byte("\r")) { // the buffer ends in the middle of a line's end
		if next, e := c.r.Peek(1); e == nil && next[0] == '\n' {
			_, _ = c.r.Discard(1) // never fails after Peek
			c.buf = append(c.buf, '\n')
		}
	}
	c.pos = advanceBytes(c.pos, c.buf[begin:])
	return err
}

// advanceBytes moves a position over bytes that end with a quote or with the buffer.
func advanceBytes(pos token.Position, b []byte) token.Position {
	for {
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			pos.Column += utf8.RuneCount(b)
			return pos
		}
		if bytes.HasPrefix(b[i:], []byte("\r\n")) {
			i++
		}
		pos.Line, pos.Column, b = pos.Line+1, 1, b[i+1:]
	}
}

func (c *csvReader) text(begin token.Position) (string, error) {
	if !utf8.Valid(c.buf) {
		return "", &Error{Pos: begin, Code: CodeText, Msg: "the field is not UTF-8", Fix: "save the file as UTF-8"}
	}
	return string(c.buf), nil
}

// CSV reads comma-separated values into a table as one transaction. The first line names columns of the table, in
// any order; columns that it does not name get their defaults. An empty field is NULL, a quoted empty one is "".
// Every value is bound as text, and the column's type may turn it into a number.
func CSV(ctx context.Context, db DB, name, table string, r io.Reader) (rows int64, err error) {
	in := &csvReader{r: bufio.NewReaderSize(r, 256<<10), pos: token.Position{Filename: name, Line: 1, Column: 1}}
	const bom = "\xef\xbb\xbf"
	if head, err := in.r.Peek(len(bom)); err == nil && string(head) == bom {
		_, _ = in.r.Discard(len(bom)) // never fails after Peek
	}
	err = transaction(ctx, db, func() error {
		header, err := in.record(nil)
		if errors.Is(err, io.EOF) {
			return &Error{
				Pos: token.Position{Filename: name, Line: 1, Column: 1}, Code: CodeCSV, Msg: "the file is empty",
				Fix: "its first line names the columns",
			}
		}
		if err != nil {
			return err
		}
		insert, err := insertStatement(ctx, db, table, header)
		if err != nil {
			return err
		}
		var fields []field
		for {
			fields, err = in.record(fields)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = insertRecord(ctx, db, insert, header, fields)
			}
			if err != nil {
				return err
			}
			rows++
		}
	})
	if err != nil {
		rows = 0
	}
	return rows, err
}

func insertRecord(ctx context.Context, db DB, insert string, header, fields []field) error {
	if len(fields) != len(header) {
		return &Error{
			Pos: fields[0].pos, Code: CodeCSV,
			Msg: fmt.Sprintf("the record has %d fields, but the first line names %d columns", len(fields), len(header)),
			Fix: "give each record as many fields; quote fields that contain a comma",
		}
	}
	args := make([]any, len(fields))
	for i, f := range fields {
		if f.text != "" || f.quoted {
			args[i] = f.text
		}
	}
	_, err := db.Run(ctx, insert, args, nil, nil)
	failed, ok := errors.AsType[locatedError](err)
	if !ok {
		return err
	}
	pos := fields[0].pos // or that of the field whose column SQLite's message names
	for i, h := range header {
		if strings.HasSuffix(failed.Error(), "."+h.text) {
			pos = fields[i].pos
		}
	}
	return &Error{Pos: pos, Code: CodeStatement, Msg: failed.Error(), cause: err}
}

// insertStatement returns the statement that adds one record.
func insertStatement(ctx context.Context, db DB, table string, header []field) (string, error) {
	known, err := writableColumns(ctx, db, table)
	if err != nil {
		return "", err
	}
	names, marks := make([]string, len(header)), make([]string, len(header))
	seen := map[string]bool{}
	for i, h := range header {
		name, ok := known[strings.ToLower(h.text)]
		if !ok {
			return "", &Error{
				Pos: h.pos, Code: CodeColumn,
				Msg: fmt.Sprintf("the table %q has no column %q that can be written", table, h.text),
				Fix: "the first line names the table's columns",
			}
		}
		if seen[name] {
			return "", &Error{
				Pos: h.pos, Code: CodeColumn, Msg: fmt.Sprintf("the column %q is named twice", h.text),
				Fix: "remove one of them",
			}
		}
		seen[name] = true
		names[i], marks[i] = dbfile.QuoteName(name), "?"
	}
	return "INSERT INTO " + dbfile.QuoteName(table) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")", nil
}

// writableColumns returns the names of a table's columns that are not generated, by the names in lower case.
func writableColumns(ctx context.Context, db DB, table string) (map[string]string, error) {
	known := map[string]string{}
	_, err := db.Run(ctx, "PRAGMA main.table_xinfo("+dbfile.QuoteName(table)+")", nil, nil, func(v []any) error {
		if v[6] == int64(0) {
			known[strings.ToLower(textOf(v[1]))] = textOf(v[1])
		}
		return nil
	})
	if err != nil || len(known) > 0 {
		return known, err
	}
	var tables []string
	_, err = db.Run(ctx,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
		nil, nil, func(v []any) error {
			tables = append(tables, textOf(v[0]))
			return nil
		})
	return known, errors.Join(err, noTable(table, tables))
}
