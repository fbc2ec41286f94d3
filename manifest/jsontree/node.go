package jsontree

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// NodeKind is the type of a JSON value.
type NodeKind int

// The kinds of values.
const (
	// BadNode has a fault; no rule looks at it.
	BadNode NodeKind = iota
	NullNode
	BoolNode
	NumberNode
	StringNode
	ArrayNode
	ObjectNode
)

// Name returns the kind with its article, for messages.
func (k NodeKind) Name() string {
	return [...]string{"unreadable", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Node is one value of a parsed document with its span, which includes quotes and brackets.
type Node struct {
	sourcetext.Span
	Kind    NodeKind
	Text    string // a string's value, a number's or boolean's literal
	Items   []*Node
	Members []member
	index   map[string]Positions // of the keys, after the first look-up in a large object
}

// Positions are the indexes of a key's first and last member.
type Positions struct{ First, last int }

// member is one key of an object with its value, in source order; duplicates are kept.
type member struct {
	Key   string
	At    sourcetext.Span // of the key
	Value *Node
}

// Get returns the value of a key, nil when n is not an object or does not have the key. Of duplicates the last counts,
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
			n.index = make(map[string]Positions, len(n.Members))
			for i, m := range n.Members {
				at, twice := n.index[m.Key]
				if !twice {
					at.First = i
				}
				at.last = i
				n.index[m.Key] = at
			}
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

// Str returns the value of a string node, "" for any other.
func (n *Node) Str() string {
	if n == nil || n.Kind != StringNode {
		return ""
	}
	return n.Text
}

// Literal returns the value of a string node and the source text of any other.
func (n *Node) Literal(src string) string {
	if n.Kind == StringNode {
		return n.Text
	}
	return src[n.Start:n.End]
}

// List returns the items of an array node, none for any other.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Value returns n in the types of the schema validator. It keeps only the part of a number that the rules read, so that a literal with a
// million digits, or an exponent of a million, costs nothing.
func (n *Node) Value() any {
	switch n.Kind {
	case BoolNode:
		return n.Text == "true"
	case StringNode:
		return n.Text
	case NumberNode:
		if i, ok := n.Integer(); ok {
			return json.Number(strconv.FormatInt(i, 10))
		}
		return json.Number("0.5")
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

// Pointer is a JSON Pointer (RFC 6901) into the manifest; the empty pointer is the whole document.
type Pointer string

// Key returns the pointer to a member of the object p points at.
func (p Pointer) Key(name string) Pointer {
	if strings.ContainsAny(name, "~/") {
		name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return p + "/" + Pointer(name)
}

// Index returns the pointer to an item of the array p points at.
func (p Pointer) Index(i int) Pointer {
	return p + "/" + Pointer(strconv.Itoa(i))
}

// Parent splits off the last token.
func (p Pointer) Parent() (parent Pointer, last string) {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return "", ""
	}
	return p[:i], string(p[i+1:])
}

// Label names the value p points at in messages: "cpuMs", "secrets[2]", "the manifest".
func (p Pointer) Label() string {
	parent, last := p.Parent()
	if last == "" {
		return "the manifest"
	}
	if _, err := strconv.Atoi(last); err == nil {
		_, list := parent.Parent()
		return list + "[" + last + "]"
	}
	return last
}

// Kind returns p with every index replaced by "*", which names the rule for that place.
func (p Pointer) Kind() string {
	parts := strings.Split(string(p), "/")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}
