package upstream

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// This file finds the references in a script, and which of them the script ties to a members route. A script that does not parse, for
// example one with newer syntax, counts as one that loads nothing by itself: the names in its quotes may still be public.

// scriptRefs reads a script. A script in a page also loads the targets of its import(), since no other reference would.
func (m *modules) scriptRefs(text []byte, inPage bool) refs {
	ast, err := js.Parse(parse.NewInputBytes(append(bytes.Clone(text), 0)[:len(text)]), js.Options{})
	if err != nil {
		return refs{later: dataRefs(text)}
	}
	s := &scriptReader{modules: m, bound: map[string][]string{}, tied: map[string]bool{}}
	js.Walk(s, ast)
	for _, node := range s.ties {
		s.tie(node)
	}
	found := refs{loads: s.loads}
	keep := func(list []string, into *[]string) {
		for _, each := range list {
			if !s.tied[each] {
				*into = append(*into, each)
			}
		}
	}
	if inPage {
		keep(s.imported, &found.loads)
	}
	keep(s.imported, &found.later)
	keep(s.texts, &found.later)
	return found
}

// scriptReader visits the nodes of a script.
type scriptReader struct {
	modules  *modules
	loads    []string            // import … from
	imported []string            // import(…)
	texts    []string            // other texts that may be names
	bound    map[string][]string // the import() targets in the value of a variable, by its name
	ties     []js.INode          // nodes that belong to a members route
	tied     map[string]bool     // references in them
}

// Enter implements js.IVisitor.
func (s *scriptReader) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.ImportStmt:
		s.load(n.Module)
	case *js.ExportStmt:
		s.load(n.Module)
	case *js.VarDecl:
		for _, each := range n.List {
			if v, ok := each.Binding.(*js.Var); ok && each.Default != nil {
				s.bound[string(v.Name())] = append(s.bound[string(v.Name())], importsIn(each.Default)...)
			}
		}
	case *js.CallExpr:
		if to, ok := importOf(n); ok {
			s.imported = append(s.imported, to)
		}
		s.tieCall(n)
	case *js.LiteralExpr:
		if text, ok := stringOf(n); ok && isReference(text) {
			s.texts = append(s.texts, text)
		}
	default:
		s.tieNode(n)
	}
	return s
}

// tieNode records a node that belongs to a members route: an object or a list with its path, or a branch that tests for it.
func (s *scriptReader) tieNode(n js.INode) {
	switch n := n.(type) {
	case *js.ObjectExpr:
		for _, p := range n.List {
			if p.Name != nil && !p.Name.IsComputed() {
				s.tieIf(s.leads(literal(&p.Name.Literal)), p.Value)
			}
			s.tieIf(s.leads(literal(p.Value)), n)
		}
	case *js.ArrayExpr:
		for _, e := range n.List {
			s.tieIf(s.leads(literal(e.Value)), n)
		}
	case *js.CondExpr:
		s.tieIf(s.asks(n.Cond), n.X)
	case *js.IfStmt:
		s.tieIf(s.asks(n.Cond), n.Body)
	case *js.BinaryExpr:
		s.tieIf(n.Op == js.AndToken && s.asks(n.X), n.Y)
	case *js.SwitchStmt:
		for _, c := range n.List {
			for _, each := range c.List {
				s.tieIf(c.Cond != nil && s.leads(literal(c.Cond)), each)
			}
		}
	}
}

func (s *scriptReader) tieIf(belongs bool, n js.INode) {
	if belongs {
		s.ties = append(s.ties, n)
	}
}

// Exit implements js.IVisitor.
func (s *scriptReader) Exit(js.INode) {}

func (s *scriptReader) load(module []byte) {
	if text, ok := unquote(module); ok {
		s.loads = append(s.loads, text)
	}
}

// tieCall records a call with the path of a members route among its arguments: route("/club", …).
func (s *scriptReader) tieCall(n *js.CallExpr) {
	for _, arg := range n.Args.List {
		if s.leads(literal(arg.Value)) {
			s.ties = append(s.ties, n)
		}
	}
}

// leads reports whether a text is the path of a members page, even without its first slash, as in nested routes.
func (s *scriptReader) leads(text string) bool {
	return text != "" && !strings.ContainsAny(text, " \n") && text != "/" && s.modules.leads(strings.TrimSuffix(text, "*"))
}

// asks reports whether a condition has the path of a members page.
func (s *scriptReader) asks(condition js.INode) (found bool) {
	visit(condition, func(n js.INode) {
		if text := literal(n); strings.HasPrefix(text, "/") && s.leads(text) {
			found = true
		}
	})
	return found
}

// tie marks all loads of a node, direct or by variables, as part of a members route.
func (s *scriptReader) tie(n js.INode) {
	visit(n, func(n js.INode) {
		switch n := n.(type) {
		case *js.Var:
			for _, each := range s.bound[string(n.Name())] {
				s.tied[each] = true
			}
		case *js.LiteralExpr:
			if text, ok := stringOf(n); ok && isReference(text) {
				s.tied[text] = true
			}
		}
	})
}

// importsIn lists the import() targets in an expression.
func importsIn(n js.INode) (list []string) {
	visit(n, func(n js.INode) {
		if call, ok := n.(*js.CallExpr); ok {
			if to, ok := importOf(call); ok {
				list = append(list, to)
			}
		}
	})
	return list
}

// importOf returns the module of import("…").
func importOf(n *js.CallExpr) (string, bool) {
	callee, ok := n.X.(*js.LiteralExpr)
	if !ok || callee.TokenType != js.ImportToken || len(n.Args.List) == 0 {
		return "", false
	}
	text := literal(n.Args.List[0].Value)
	return text, text != ""
}

// literal is the text of a string or of a template without expressions; "" for anything else.
func literal(n js.INode) string {
	switch n := n.(type) {
	case *js.LiteralExpr:
		text, _ := stringOf(n)
		return text
	case *js.TemplateExpr:
		if n.Tag == nil && len(n.List) == 0 && len(n.Tail) > 1 {
			return string(n.Tail[1 : len(n.Tail)-1])
		}
	}
	return ""
}

func stringOf(n *js.LiteralExpr) (string, bool) {
	if n.TokenType != js.StringToken {
		return "", false
	}
	return unquote(n.Data)
}

// unquote reads a string of JavaScript. Paths have no other escapes than those of JSON.
func unquote(data []byte) (string, bool) {
	if len(data) < 2 {
		return "", false
	}
	inner := data[1 : len(data)-1]
	if !bytes.ContainsRune(inner, '\\') {
		return string(inner), true
	}
	var text string
	err := json.Unmarshal(append(append([]byte(`"`), inner...), '"'), &text)
	return text, err == nil
}

// visit calls f for a node and all nodes below it.
func visit(n js.INode, f func(js.INode)) { js.Walk(visitor(f), n) }

type visitor func(js.INode)

// Enter implements js.IVisitor.
func (v visitor) Enter(n js.INode) js.IVisitor {
	v(n)
	return v
}

// Exit implements js.IVisitor.
func (v visitor) Exit(js.INode) {}
