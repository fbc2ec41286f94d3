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
)

// This file reads comma-separated values as RFC 4180 has them, with what programs in use write besides: a byte order
// mark, lines that end in LF or CR alone, a last line without an end. encoding/csv does not tell an empty field from
// a quoted empty one, and that is how NULL differs from "".

// field is one value of a record.
type field struct {
	text   string
	quoted bool
	pos    token.Position
}

// csvReader reads records; each may span lines.
type csvReader struct {
	r   *bufio.Reader
	pos token.Position // of the next byte
	buf []byte
	end bool // nothing is left to read
}

// maxField bounds a field: a quote that never ends must not take all memory.
const maxField = 256 << 20

func newCSV(name string, r io.Reader) *csvReader {
	c := &csvReader{r: bufio.NewReaderSize(r, 256<<10), pos: token.Position{Filename: name, Line: 1, Column: 1}}
	if head, err := c.r.Peek(3); err == nil && string(head) == "\xef\xbb\xbf" {
		_, _ = c.r.Discard(3) // they were peeked
	}
	return c
}

// byte reads one byte, CRLF and CR as LF.
func (c *csvReader) byte() (byte, error) {
	b, err := c.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if b == '\r' {
		if next, err := c.r.Peek(1); err == nil && next[0] == '\n' {
			_, _ = c.r.ReadByte() // it was peeked
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

// record reads the next record into fields, which it returns; io.EOF is the end. Blank lines are passed over.
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

// field reads one field and what ended it: ',' or '\n'. io.EOF is given only where nothing is left at all.
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
			if end, err = c.quoted(f.pos); err != nil {
				return f, 0, err
			}
			f.quoted = true
			f.text, err = c.text(f.pos)
			return f, end, err
		case b == '"':
			return f, 0, &Error{
				Pos: at, Code: CodeCSV, Msg: "a quote inside a field that does not begin with one",
				Fix: `put the whole field in quotes and double this one: "a ""b"""`,
			}
		case b == ',' || b == '\n':
			f.text, err = c.text(f.pos)
			return f, b, err
		}
		c.buf = append(c.buf, b)
		first = false
	}
}

// quoted reads a field behind its first quote, and what stands behind its last.
func (c *csvReader) quoted(begin token.Position) (end byte, err error) {
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
			continue // two quotes are one, which is in buf already
		}
		c.buf = c.buf[:len(c.buf)-1]
		if b != ',' && b != '\n' {
			return 0, &Error{
				Pos: at, Code: CodeCSV,
				Msg: fmt.Sprintf("%q stands behind the quote that ends a field", string(rune(b))),
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
			_, _ = c.r.Discard(1) // it was peeked
			c.buf = append(c.buf, '\n')
		}
	}
	c.pos = advanceBytes(c.pos, c.buf[begin:])
	return err
}

// advanceBytes moves a position over bytes of which the last is a quote or the end of a buffer.
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
// Every value is bound as text, and becomes a number where the column's type says so.
func CSV(ctx context.Context, db DB, name, table string, r io.Reader) (rows int64, err error) {
	in := newCSV(name, r)
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
		insert, err := insertion(ctx, db, table, header)
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
			Msg: fmt.Sprintf("the record has %d fields, and the first line names %d columns", len(fields), len(header)),
			Fix: "give each record as many fields; quote those that hold a comma",
		}
	}
	args := make([]any, len(fields))
	for i, f := range fields {
		if f.text != "" || f.quoted {
			args[i] = f.text
		}
	}
	if _, err := db.Run(ctx, insert, args, nil, nil); err != nil {
		return blameRecord(fields, header, err)
	}
	return nil
}

// blameRecord puts a failure at the record, or at the field whose column SQLite's message names.
func blameRecord(fields, header []field, err error) error {
	at, ok := errors.AsType[located](err)
	if !ok {
		return err
	}
	pos := fields[0].pos
	named := at.Error()
	for i, h := range header {
		if strings.HasSuffix(named, "."+h.text) {
			pos = fields[i].pos
		}
	}
	return &Error{Pos: pos, Code: CodeStatement, Msg: named, cause: err}
}

// insertion is the statement that adds one record.
func insertion(ctx context.Context, db DB, table string, header []field) (string, error) {
	known, err := columnsOf(ctx, db, table)
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
		names[i], marks[i] = quoteName(name), "?"
	}
	return "INSERT INTO " + quoteName(table) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")", nil
}

// columnsOf gives a table's columns that can be written, by their names in lower case.
func columnsOf(ctx context.Context, db DB, table string) (map[string]string, error) {
	known := map[string]string{}
	_, err := db.Run(ctx, "PRAGMA main.table_xinfo("+quoteName(table)+")", nil, nil, func(v []any) error {
		if v[6] == int64(0) {
			known[strings.ToLower(textOf(v[1]))] = textOf(v[1])
		}
		return nil
	})
	if err == nil && len(known) == 0 {
		err = tableMissing(ctx, db, table)
	}
	return known, err
}

func tableMissing(ctx context.Context, db DB, table string) error {
	var there []string
	_, err := db.Run(ctx,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
		nil, nil, func(v []any) error {
			there = append(there, textOf(v[0]))
			return nil
		})
	return errors.Join(err, noTable(table, there))
}
