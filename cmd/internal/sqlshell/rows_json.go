package sqlshell

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// jsonRows is one document with columns and rows. It implements rowFormat.
type jsonRows struct{ rows int }

func (j *jsonRows) head(b []byte, columns []string) []byte {
	b = appendJSON(append(b, `{"ok": true, "columns": `...), columns)
	return append(b, `, "rows": [`...)
}

func (j *jsonRows) row(b []byte, values []any) []byte {
	if j.rows++; j.rows > 1 {
		b = append(b, ',')
	}
	b = append(b, "\n  ["...)
	for i, v := range values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendJSONValue(b, v)
	}
	return append(b, ']')
}

func (j *jsonRows) foot(b []byte) []byte {
	if j.rows > 0 {
		b = append(b, '\n')
	}
	return append(b, "]}\n"...)
}

// jsonLines writes an object for each row. It implements rowFormat.
type jsonLines struct{ columns []string }

func (j *jsonLines) head(b []byte, columns []string) []byte {
	j.columns = Distinct(columns)
	return b
}

func (j *jsonLines) row(b []byte, values []any) []byte {
	b = append(b, '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendJSONValue(append(appendJSON(b, j.columns[i]), ": "...), v)
	}
	return append(b, "}\n"...)
}

func (j *jsonLines) foot(b []byte) []byte { return b }

// Distinct makes the names of columns distinct, so that an object has them all.
func Distinct(columns []string) []string {
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

// appendJSONValue writes a value; an integer has all its digits, an infinity is a number that overflows to it.
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
	return append(b, wording.EscapeJSON([]byte(strings.TrimSuffix(text.String(), "\n")))...)
}
