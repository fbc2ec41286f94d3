package jsontree

import (
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// NodeKind is the type of a JSON value.
type NodeKind int

// The kinds.
const (
	// BadNode was reported already; no rule looks at it.
	BadNode NodeKind = iota
	NullNode
	BoolNode
	NumberNode
	StringNode
	ArrayNode
	ObjectNode
)

// Name is the kind with its article, for messages.
func (k NodeKind) Name() string {
	return [...]string{"unreadable", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Node is one value of a parsed document and where it stands. Spans include quotes and brackets.
type Node struct {
	sourcetext.Span
	Kind    NodeKind
	Text    string // a string's value, a number's or boolean's literal
	Items   []*Node
	Members []member
	index   map[string]Positions // of the keys, once a large object was asked for one
}

// Positions are the positions of a key's first and last member.
type Positions struct{ First, last int }

// member is one key of an object with its value, in source order; duplicates are kept.
type member struct {
	Key   string
	At    sourcetext.Span // of the key
	Value *Node
}

// Get returns the value of a key, nil when n is no object or has no such key. Of duplicates the last counts,
// as in every other parser.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	if i, ok := n.Find(key); ok {
		return n.Members[i.last].Value
	}
	return nil
}

// Find looks a key up.
func (n *Node) Find(key string) (at Positions, ok bool) {
	const small = 16
	if len(n.Members) > small {
		if n.index == nil {
			n.index = indexKeys(n.Members)
		}
		at, ok = n.index[key]
		return at, ok
	}
	for i, m := range n.Members {
		if m.Key == key {
			if !ok {
				at.First = i
			}
			at.last, ok = i, true
		}
	}
	return at, ok
}

func indexKeys(members []member) map[string]Positions {
	index := make(map[string]Positions, len(members))
	for i, m := range members {
		at, twice := index[m.Key]
		if !twice {
			at.First = i
		}
		at.last = i
		index[m.Key] = at
	}
	return index
}

// Holds reports whether n has values in it.
func (n *Node) Holds() bool { return len(n.Items)+len(n.Members) > 0 }

// Path follows several keys.
func (n *Node) Path(keys ...string) *Node {
	for _, k := range keys {
		n = n.Get(k)
	}
	return n
}

// Resolve follows a pointer whose tokens need no unescaping.
func (n *Node) Resolve(p Pointer) *Node {
	if p == "" {
		return n
	}
	for tok := range strings.SplitSeq(string(p[1:]), "/") {
		if n == nil {
			return nil
		}
		if n.Kind != ArrayNode {
			n = n.Get(tok)
			continue
		}
		i, err := strconv.Atoi(tok)
		if err != nil || i < 0 || i >= len(n.Items) {
			return nil
		}
		n = n.Items[i]
	}
	return n
}

// Str is the value of a string node, "" for any other.
func (n *Node) Str() string {
	if n == nil || n.Kind != StringNode {
		return ""
	}
	return n.Text
}

// Literal is the value of a string node and the source text of any other.
func (n *Node) Literal(src string) string {
	if n.Kind == StringNode {
		return n.Text
	}
	return src[n.Start:n.End]
}

// List is the items of an array node, none for any other.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Value is n as the schema validator wants it.
func (n *Node) Value() any {
	switch n.Kind {
	case BoolNode:
		return n.Text == "true"
	case StringNode:
		return n.Text
	case NumberNode:
		return n.number()
	case ArrayNode:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Value()
		}
		return list
	case ObjectNode:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			object[m.Key] = m.Value.Value()
		}
		return object
	default:
		return nil
	}
}
