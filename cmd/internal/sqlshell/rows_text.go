package sqlshell

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// tsvRows writes a line for each row, with tabs between the values. It implements rowFormat.
type tsvRows struct{}

var tsvEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

func (tsvRows) head(b []byte, columns []string) []byte {
	for i, name := range columns {
		b = append(separate(b, i, '\t'), tsvEscapes.Replace(name)...)
	}
	return append(b, '\n')
}

func (tsvRows) row(b []byte, values []any) []byte {
	for i, v := range values {
		b = separate(b, i, '\t')
		switch v := v.(type) {
		case nil:
			b = append(b, `\N`...)
		case string:
			b = append(b, tsvEscapes.Replace(v)...)
		default:
			b = appendLiteral(b, v)
		}
	}
	return append(b, '\n')
}

func (tsvRows) foot(b []byte) []byte { return b }

// csvRows writes CSV as RFC 4180 has it, except for the line ends, and tells NULL from an empty text. It implements rowFormat.
type csvRows struct{}

func (csvRows) head(b []byte, columns []string) []byte {
	for i, name := range columns {
		b = appendField(separate(b, i, ','), name)
	}
	return append(b, '\n')
}

func (csvRows) row(b []byte, values []any) []byte {
	for i, v := range values {
		b = separate(b, i, ',')
		if text, ok := v.(string); ok {
			b = appendField(b, text)
		} else {
			b = appendLiteral(b, v)
		}
	}
	return append(b, '\n')
}

func (csvRows) foot(b []byte) []byte { return b }

// appendField writes a text of CSV, in quotes if it needs them.
func appendField(b []byte, text string) []byte {
	if text != "" && !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text && !strings.HasPrefix(text, "\ufeff") {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// separate writes the separator before column i.
func separate(b []byte, i int, separator byte) []byte {
	if i == 0 {
		return b
	}
	return append(b, separator)
}

// appendLiteral writes a number, a blob as X'00ff', or nothing for NULL.
func appendLiteral(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case []byte:
		return append(hex.AppendEncode(append(b, "X'"...), v), '\'')
	}
	return b
}

// appendFloat writes a number that does not look like an integer.
func appendFloat(b []byte, v float64) []byte {
	begin := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	if !strings.ContainsAny(string(b[begin:]), ".eI") {
		return append(b, ".0"...)
	}
	return append(b[:begin], strings.TrimPrefix(string(b[begin:]), "+")...)
}
