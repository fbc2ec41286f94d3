package formrow

import (
	"encoding/json"
	"strconv"
	"strings"
)

// affinity is a column's preference for a type of values (sqlite.org/datatype3.html, section 3.1).
type affinity int

const (
	affinityBlob affinity = iota
	affinityText
	affinityInteger
	affinityReal
	affinityNumeric
)

// affinityOf returns the affinity of a declared type in upper case.
func affinityOf(kind string) affinity {
	holds := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(kind, word) {
				return true
			}
		}
		return false
	}
	switch {
	case holds("INT"):
		return affinityInteger
	case holds("CHAR", "CLOB", "TEXT"):
		return affinityText
	case kind == "", holds("BLOB"):
		return affinityBlob
	case holds("REAL", "FLOA", "DOUB"): //nolint:misspell // SQLite looks for these four letters
		return affinityReal
	}
	return affinityNumeric
}

// isText reports whether a column stores text unchanged: its type is text, or any type.
func (t *table) isText(c *column) bool {
	return c.affinity == affinityText || c.kind == "" || t.strict && c.kind == "ANY"
}

// isNumber reports whether a column stores numbers.
func (t *table) isNumber(c *column) bool { return !t.isText(c) && c.affinity != affinityBlob }

// answer turns an answer into a value for a column, or none if the column should keep its default.
func (t *table) answer(c *column, raw json.RawMessage) (made cell, filled bool) {
	var text string
	word := string(raw)
	switch isText := json.Unmarshal(raw, &text) == nil && word != "null"; {
	case word == "null", isText && text == "", isText && !t.isText(c) && strings.TrimSpace(text) == "":
		switch {
		case c.standard != "":
			return cell{}, false
		case word == "null", c.bare, !t.isText(c):
			return cell{column: c}, true
		}
		return cell{column: c, value: t.stored(c, ""), empty: true}, true
	case isText && t.isNumber(c):
		if truth, ok := truths[text]; ok {
			return cell{column: c, value: truth}, true
		}
	case isText:
	case word == "true", word == "false":
		if c.affinity != affinityText {
			return cell{column: c, value: truths[word]}, true
		}
		text = word
	default: // a number, a list, an object
		text = word
		if number, ok := exactNumber(word); ok && c.affinity != affinityText {
			return cell{column: c, value: number}, true
		}
	}
	return cell{column: c, value: t.stored(c, text)}, true
}

// truths are the words of checkboxes and switches.
var truths = map[string]int64{"on": 1, "true": 1, "off": 0, "false": 0}

// exactNumber returns a JSON number that a SQLite integer or a float holds without loss.
func exactNumber(word string) (any, bool) {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, true
	}
	if strings.ContainsAny(word, "[{") || !strings.ContainsAny(word, ".eE") {
		return nil, false // it does not fit an integer: as text it keeps its digits
	}
	n, err := strconv.ParseFloat(word, 64)
	return n, err == nil
}

// stored returns text as bytes if the column of a strict table takes only those.
func (t *table) stored(c *column, value any) any {
	if text, ok := value.(string); ok && t.strict && c.kind == "BLOB" {
		return []byte(text)
	}
	return value
}
