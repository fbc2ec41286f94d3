package manifest

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// nodeKind is the type of a JSON value.
type nodeKind int

const (
	badNode nodeKind = iota // reported already; no rule looks at it
	nullNode
	boolNode
	numberNode
	stringNode
	arrayNode
	objectNode
)

// name is the kind with its article, for messages.
func (k nodeKind) name() string {
	return [...]string{"unreadable", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// node is one value of a parsed document and where it stands. Spans include quotes and brackets.
type node struct {
	span
	kind    nodeKind
	text    string // a string's value, a number's or boolean's literal
	items   []*node
	members []member
	index   map[string]firstLast // of the keys, once a large object was asked for one
}

// firstLast are the positions of a key's first and last member.
type firstLast struct{ first, last int }

// member is one key of an object with its value, in source order; duplicates are kept.
type member struct {
	key   string
	at    span // of the key
	value *node
}

// get returns the value of a key, nil when n is no object or has no such key. Of duplicates the last counts,
// as in every other parser.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if i, ok := n.find(key); ok {
		return n.members[i.last].value
	}
	return nil
}

// find looks a key up.
func (n *node) find(key string) (at firstLast, ok bool) {
	const small = 16
	if len(n.members) > small {
		if n.index == nil {
			n.index = indexKeys(n.members)
		}
		at, ok = n.index[key]
		return at, ok
	}
	for i, m := range n.members {
		if m.key == key {
			if !ok {
				at.first = i
			}
			at.last, ok = i, true
		}
	}
	return at, ok
}

func indexKeys(members []member) map[string]firstLast {
	index := make(map[string]firstLast, len(members))
	for i, m := range members {
		at, twice := index[m.key]
		if !twice {
			at.first = i
		}
		at.last = i
		index[m.key] = at
	}
	return index
}

// path follows several keys.
func (n *node) path(keys ...string) *node {
	for _, k := range keys {
		n = n.get(k)
	}
	return n
}

// resolve follows a pointer whose tokens need no unescaping.
func (n *node) resolve(p pointer) *node {
	if p == "" {
		return n
	}
	for tok := range strings.SplitSeq(string(p[1:]), "/") {
		if n == nil {
			return nil
		}
		if n.kind != arrayNode {
			n = n.get(tok)
			continue
		}
		i, err := strconv.Atoi(tok)
		if err != nil || i < 0 || i >= len(n.items) {
			return nil
		}
		n = n.items[i]
	}
	return n
}

// str is the value of a string node, "" for any other.
func (n *node) str() string {
	if n == nil || n.kind != stringNode {
		return ""
	}
	return n.text
}

// literal is the value of a string node and the source text of any other.
func (n *node) literal(src string) string {
	if n.kind == stringNode {
		return n.text
	}
	return src[n.start:n.end]
}

// list is the items of an array node, none for any other.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// integer is the value of a number node that is integral and fits, however it is written.
func (n *node) integer() (int, bool) {
	if n == nil || n.kind != numberNode {
		return 0, false
	}
	i, err := strconv.Atoi(n.text)
	if err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f > 1<<53 || f < -1<<53 || f != float64(int64(f)) {
		return 0, false
	}
	return int(f), exact(n.text, int64(f))
}

// exact reports whether a literal near an integer really is that integer, which 20.00000000000000000001 is
// not. The literal is known to fit a double, so its size bounds the work.
func exact(literal string, want int64) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	if exp, err := strconv.Atoi(exponent); exponent != "" && (err != nil || exp < -400 || exp > 400) {
		return strings.Trim(mantissa, "-0.") == "" && want == 0
	}
	r, ok := new(big.Rat).SetString(literal)
	return ok && r.IsInt() && r.Num().IsInt64() && r.Num().Int64() == want
}

// value is n as the schema validator wants it. A number keeps only what the rules look at, so that a literal
// of a million digits costs nothing there.
func (n *node) value() any {
	switch n.kind {
	case boolNode:
		return n.text == "true"
	case stringNode:
		return n.text
	case numberNode:
		return n.number()
	case arrayNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.value()
		}
		return list
	case objectNode:
		object := make(map[string]any, len(n.members))
		for _, m := range n.members {
			object[m.key] = m.value.value()
		}
		return object
	default:
		return nil
	}
}

func (n *node) number() json.Number {
	if i, ok := n.integer(); ok {
		return json.Number(strconv.Itoa(i))
	}
	f, err := strconv.ParseFloat(n.text, 64)
	switch {
	case err != nil:
		return "0.5"
	case f > 1<<53:
		return "9007199254740993"
	case f < -1<<53:
		return "-9007199254740993"
	default:
		return "0.5"
	}
}
