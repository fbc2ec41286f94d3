package htmlrewriter

import (
	"slices"
	"strings"
)

// This file matches selectors against elements as they open, when only their ancestors are known:
// each step of a selector is tested once per element.

type matchable struct {
	name       string
	attributes []htmlAttribute
	isHTML     bool
	child      int // its number among all children of its parent, from 1
	ofType     int // its position among siblings of its name
}

func (m *matchable) attribute(name string) (value string, found bool) {
	for i := range m.attributes {
		if m.attributes[i].name == name {
			return m.attributes[i].value, true
		}
	}
	return "", false
}

type selectorTest func(m *matchable) bool

type compound []selectorTest

func (c compound) matches(m *matchable) bool {
	for _, test := range c {
		if !test(m) {
			return false
		}
	}
	return true
}

// selectorStep is a compound, and how it is joined to the one before it.
type selectorStep struct {
	compound compound
	previous int  // index of the step before it; -1 is none
	child    bool // its parent must match that, otherwise any ancestor
	handler  int  // whose selector ends here; -1 for none
}

type selectorSet struct {
	steps  []selectorStep
	ofType bool // some step counts children by name
}

func (s *selectorSet) add(list *selectorList, handler int) {
	for _, parts := range list.selectors {
		previous := -1
		for i, part := range parts {
			step := selectorStep{compound: part.compound, previous: previous, child: part.child, handler: -1}
			if i == len(parts)-1 {
				step.handler = handler
			}
			previous = len(s.steps)
			s.steps = append(s.steps, step)
		}
	}
	s.ofType = s.ofType || list.ofType
}

// marks are the sets of the steps that an element matches, and that it or an ancestor does.
type marks struct{ here, above []uint64 }

const wordBits = 64

func (s *selectorSet) noMarks() marks {
	words := (len(s.steps) + wordBits - 1) / wordBits
	both := make([]uint64, 2*words)
	return marks{here: both[:words], above: both[words:]}
}

// match returns an element's marks and the handlers whose selectors it matches, sorted.
func (s *selectorSet) match(m *matchable, parent marks) (own marks, handlers []int) {
	own = s.noMarks()
	copy(own.above, parent.above)
	for i := range s.steps {
		step := &s.steps[i]
		if step.previous >= 0 {
			of := parent.above
			if step.child {
				of = parent.here
			}
			if of[step.previous/wordBits]>>(step.previous%wordBits)&1 == 0 {
				continue
			}
		}
		if !step.compound.matches(m) {
			continue
		}
		own.here[i/wordBits] |= 1 << (i % wordBits)
		own.above[i/wordBits] |= 1 << (i % wordBits)
		if step.handler >= 0 {
			handlers = append(handlers, step.handler)
		}
	}
	slices.Sort(handlers)
	return own, slices.Compact(handlers)
}

func attributeTest(name, operator, value, flag string) selectorTest {
	compare := attributeOperator(operator, value)
	folded := attributeOperator(operator, lowerASCII([]byte(value)))
	ignoring := func(of string) bool { return folded(lowerASCII([]byte(of))) }
	return func(m *matchable) bool {
		of, found := m.attribute(name)
		if !found {
			return false
		}
		if flag == "i" || flag == "" && m.isHTML && caselessAttributes[name] {
			return ignoring(of)
		}
		return compare(of)
	}
}

func attributeOperator(operator, value string) func(of string) bool {
	switch operator {
	case "~=":
		return func(of string) bool {
			return value != "" && slices.Contains(strings.FieldsFunc(of, isHTMLSpace), value)
		}
	case "|=":
		return func(of string) bool { return of == value || strings.HasPrefix(of, value+"-") }
	case "^=":
		return func(of string) bool { return value != "" && strings.HasPrefix(of, value) }
	case "$=":
		return func(of string) bool { return value != "" && strings.HasSuffix(of, value) }
	case "*=":
		return func(of string) bool { return value != "" && strings.Contains(of, value) }
	default:
		return func(of string) bool { return of == value }
	}
}

func isHTMLSpace(r rune) bool { return strings.ContainsRune(htmlSpace, r) }

// caselessAttributes are those whose values are compared without regard to case (HTML standard,
// 4.16.2).
var caselessAttributes = map[string]bool{ //nolint:gochecknoglobals // a table
	"accept": true, "accept-charset": true, "align": true, "alink": true, "axis": true, "bgcolor": true, "charset": true, "checked": true,
	"clear": true, "codetype": true, "color": true, "compact": true, "declare": true, "defer": true, "dir": true, "direction": true,
	"disabled": true, "enctype": true, "face": true, "frame": true, "hreflang": true, "http-equiv": true, "lang": true, "language": true,
	"link": true, "media": true, "method": true, "multiple": true, "nohref": true, "noresize": true, "noshade": true, "nowrap": true,
	"readonly": true, "rel": true, "rev": true, "rules": true, "scope": true, "scrolling": true, "selected": true, "shape": true,
	"target": true, "text": true, "type": true, "valign": true, "valuetype": true, "vlink": true,
}

// nth is an+b.
type nth struct{ a, b int }

func (n nth) matches(index int) bool {
	if n.a == 0 {
		return index == n.b
	}
	return (index-n.b)%n.a == 0 && (index-n.b)/n.a >= 0
}

// selectorList is a parsed selector: each alternative as its compounds, from the outermost on.
type selectorList struct {
	selectors [][]selectorPart
	ofType    bool
}

type selectorPart struct {
	compound compound
	child    bool
}
