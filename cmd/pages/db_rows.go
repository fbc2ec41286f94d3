package main

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// rowWriter writes the rows of a query to stdout.
type rowWriter struct {
	out     *bufio.Writer
	sent    *counter // what has left out
	format  string
	columns []string
	rows    int
	held    [][]string // of a table, the rows that decide its widths
	widths  []int
	numbers []bool // columns of numbers, which stand to the right
	b       []byte
}

// tableSample is how many rows decide the widths of a table.
const tableSample = 500

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
	switch format {
	case "table", "tsv", "csv", "json", "jsonl":
		sent := &counter{w: c.stdout}
		return &rowWriter{out: bufio.NewWriterSize(sent, 64<<10), sent: sent, format: format}, nil
	}
	return nil, usageError("--format is %q; it is one of table, tsv, csv, json, jsonl", format)
}

func (w *rowWriter) begin(columns []string) error {
	w.columns = columns
	w.numbers, w.widths = make([]bool, len(columns)), make([]int, len(columns))
	for i := range w.numbers {
		w.numbers[i] = true
	}
	w.b = w.b[:0]
	switch w.format {
	case "json":
		w.b = append(w.b, `{"ok": true, "columns": `...)
		w.b = appendJSON(w.b, columns)
		w.b = append(w.b, `, "rows": [`...)
	case "jsonl":
		w.columns = distinct(columns)
	case "tsv", "csv":
		for i, name := range columns {
			w.b = w.appendText(w.separate(i), name)
		}
		w.b = append(w.b, '\n')
	}
	_, err := w.out.Write(w.b)
	return err
}

// distinct names columns apart, so that an object holds them all.
func distinct(columns []string) []string {
	names := make([]string, len(columns))
	seen := map[string]bool{}
	for i, name := range columns {
		for n := 2; seen[name]; n++ {
			name = fmt.Sprintf("%s_%d", columns[i], n)
		}
		seen[name], names[i] = true, name
	}
	return names
}

// row writes one row, or holds it until the widths are known.
func (w *rowWriter) row(values []any) error {
	w.rows++
	w.b = w.b[:0]
	switch w.format {
	case "table":
		return w.hold(values)
	case "json", "jsonl":
		w.rowJSON(values)
	default:
		for i, v := range values {
			w.b = w.appendValue(w.separate(i), v)
		}
		w.b = append(w.b, '\n')
	}
	_, err := w.out.Write(w.b)
	return err
}

// separate puts what stands between two columns.
func (w *rowWriter) separate(i int) []byte {
	switch {
	case i == 0:
		return w.b
	case w.format == "csv":
		return append(w.b, ',')
	}
	return append(w.b, '\t')
}

func (w *rowWriter) rowJSON(values []any) {
	object := w.format == "jsonl"
	open, closing := "[", "]"
	if object {
		open, closing = "{", "}\n"
	} else if w.rows > 1 {
		w.b = append(w.b, ',')
	}
	if !object {
		w.b = append(w.b, "\n  "...)
	}
	w.b = append(w.b, open...)
	for i, v := range values {
		if i > 0 {
			w.b = append(w.b, ", "...)
		}
		if object {
			w.b = append(appendJSON(w.b, w.columns[i]), ": "...)
		}
		w.b = appendJSONValue(w.b, v)
	}
	w.b = append(w.b, closing...)
}

// appendJSONValue writes a value; an integer has all its digits, an infinity is a number that overflows to one.
func appendJSONValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		if math.IsInf(v, 0) {
			return append(b, strings.TrimPrefix(strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "Inf", "1e999", 1), "+")...)
		}
		return appendFloat(b, v)
	case string:
		return appendJSON(b, v)
	case []byte:
		return append(appendJSON(append(b, `{"blob": `...), base64.StdEncoding.EncodeToString(v)), '}')
	}
	return append(b, "null"...)
}

func appendJSON(b []byte, v any) []byte {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings can always be encoded
	return append(b, strings.TrimSuffix(text.String(), "\n")...)
}

func appendFloat(b []byte, v float64) []byte {
	begin := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	if !strings.ContainsAny(string(b[begin:]), ".eI") {
		return append(b, ".0"...)
	}
	return append(b[:begin], strings.TrimPrefix(string(b[begin:]), "+")...)
}

// appendValue writes a value of tsv or csv.
func (w *rowWriter) appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case string:
		return w.appendText(b, v)
	case []byte:
		return append(hex.AppendEncode(append(b, "X'"...), v), '\'')
	}
	if w.format == "tsv" {
		return append(b, `\N`...)
	}
	return b
}

var tsvEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

func (w *rowWriter) appendText(b []byte, text string) []byte {
	if w.format == "tsv" {
		return append(b, tsvEscapes.Replace(text)...)
	}
	if text != "" && !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text && !strings.HasPrefix(text, "\ufeff") {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// hold keeps a row of a table, and shows those that are kept once there are enough.
func (w *rowWriter) hold(values []any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		text := "NULL"
		switch v := v.(type) {
		case string:
			text = printable(v)
		case nil:
		default:
			text = string(w.appendValue(nil, v))
		}
		if _, isText := v.(string); isText {
			w.numbers[i] = false
		}
		if _, isBlob := v.([]byte); isBlob {
			w.numbers[i] = false
		}
		cells[i] = shorten(text)
		w.widths[i] = max(w.widths[i], cellWidth(cells[i]))
	}
	if w.held == nil && w.rows > tableSample {
		return w.line(cells)
	}
	if w.held = append(w.held, cells); len(w.held) >= tableSample {
		return w.show()
	}
	return nil
}

// show writes the head of a table and the rows that are held.
func (w *rowWriter) show() error {
	names := make([]string, len(w.columns))
	for i, name := range w.columns {
		names[i] = shorten(printable(name))
		w.widths[i] = max(w.widths[i], cellWidth(names[i]))
	}
	rule := make([]string, len(names))
	for i := range rule {
		rule[i] = strings.Repeat("─", w.widths[i])
	}
	rows := append([][]string{names, rule}, w.held...)
	w.held = nil
	for _, cells := range rows {
		if err := w.line(cells); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) line(cells []string) error {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", max(w.widths[i]-cellWidth(cell), 0))
		if w.numbers[i] {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	_, err := w.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	return err
}

// maxCell is the most characters of a value that a table shows.
const maxCell = 80

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxCell {
		return text
	}
	return string([]rune(text)[:maxCell-1]) + "…"
}

// printable shows what a terminal would obey, or not show, as an escape.
func printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// cellWidth is how many columns of a terminal text takes.
func cellWidth(text string) int {
	n := 0
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// end writes what stands behind the last row.
func (w *rowWriter) end() error {
	var err error
	switch {
	case w.columns == nil && w.format == "json":
		_, err = w.out.WriteString("{\"ok\": true, \"columns\": [], \"rows\": []}\n")
	case w.columns == nil:
	case w.format == "json" && w.rows > 0:
		_, err = w.out.WriteString("\n]}\n")
	case w.format == "json":
		_, err = w.out.WriteString("]}\n")
	case w.format == "table" && (w.held != nil || w.rows == 0):
		err = w.show()
	}
	if err != nil {
		return err
	}
	return w.out.Flush()
}

// abort gives out the rows there were before a failure, unless the failure can be the whole document instead.
func (w *rowWriter) abort() error {
	if w.format == "json" && w.sent.n == 0 {
		return nil
	}
	return errors.Join(w.end(), w.out.Flush())
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
