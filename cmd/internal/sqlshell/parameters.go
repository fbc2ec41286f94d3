package sqlshell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// Parameters reads the values of --param. Each is a number, null, 'text', X'00ff' or else the text as it is; before it may stand
// :name=.
func Parameters(given []string) ([]any, error) {
	var values []any
	for _, g := range given {
		name, text, named := strings.Cut(g, "=")
		if named && len(name) > 1 && strings.ContainsRune(":@$", rune(name[0])) && strings.Trim(name[1:], wordCharacters) == "" {
			value, err := parameter(text)
			if err != nil {
				return nil, err
			}
			values = append(values, d1.Named{Name: name, Value: value})
			continue
		}
		value, err := parameter(g)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func parameter(text string) (any, error) {
	quoted := len(text) >= 2 && strings.HasSuffix(text, "'")
	switch {
	case strings.EqualFold(text, "null"):
		return nil, nil
	case quoted && text[0] == '\'':
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'"), nil
	case quoted && len(text) >= 3 && (text[:2] == "x'" || text[:2] == "X'"):
		var b []byte
		if _, err := fmt.Sscanf(text[2:len(text)-1]+"\n", "%x\n", &b); err != nil && len(text) > 3 {
			return nil, failure.Usage("--param %s is no blob: between the quotes stand pairs of hex digits", text)
		}
		return append([]byte{}, b...), nil
	case strings.Trim(text, "+-.0123456789eE") != "":
		return text, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, nil
	}
	return text, nil
}
