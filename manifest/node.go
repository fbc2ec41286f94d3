package manifest

import (
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

// holds reports whether n has values in it.
func (n *node) holds() bool { return len(n.items)+len(n.members) > 0 }

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

// value is n as the schema validator wants it.
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
