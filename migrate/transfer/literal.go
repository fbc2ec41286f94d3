package transfer

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendLiteral writes a value as SQL that every SQLite reads back as the same value.
func appendLiteral(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, "NULL"...), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		return appendFloat(b, v), nil
	case string:
		return appendText(b, v), nil
	case []byte:
		return appendBlob(b, v), nil
	default:
		return nil, fmt.Errorf("a value of SQLite cannot be a %T", value)
	}
}

func appendBlob(b, v []byte) []byte {
	b = append(b, "X'"...)
	b = hex.AppendEncode(b, v)
	return append(b, '\'')
}

// appendText quotes text. The shell of sqlite3 ends SQL at a NUL and drops a carriage return before a line feed;
// bytes that are no UTF-8 would make the whole dump something else than text.
func appendText(b []byte, v string) []byte {
	if strings.ContainsAny(v, "\x00\r") || !utf8.ValidString(v) {
		b = append(b, "CAST("...)
		b = appendBlob(b, []byte(v))
		return append(b, " AS TEXT)"...)
	}
	b = append(b, '\'')
	b = append(b, strings.ReplaceAll(v, "'", "''")...)
	return append(b, '\'')
}

// appendFloat writes a REAL, never as something that would be an INTEGER. SQLite keeps no NaN.
func appendFloat(b []byte, v float64) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(b, "1e999"...)
	case math.IsInf(v, -1):
		return append(b, "-1e999"...)
	}
	begin := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	if !strings.ContainsAny(string(b[begin:]), ".e") {
		b = append(b, ".0"...)
	}
	return b
}
