// Package names removes redundant name helpers from esbuild output. esbuild renames functions that collide, and with KeepNames
// restores every function's name by a call of a helper, even for an unchanged name (github.com/evanw/esbuild/issues/2605). The
// call costs as much as ten closures, and most code makes closures for each request: a sixth of a request with Hono. Without
// KeepNames names are wrong. [WithoutCalls] replaces a call by spaces if the language gives the function the same name
// (ECMA-262, NamedEvaluation), so that the source map stays valid; for a class, it replaces the static block that names it.
// Then the text of a function or class that a Worker sends to a browser needs no helper.
//
// Input: files from esbuild, minified in syntax at most. Output: the same files with spaces, of the same
// length. Code that cannot be parsed with certainty keeps its calls. It returns no errors, and is safe for concurrent
// use.
package names

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// helper matches the beginning of esbuild's helper under its own name. Then all calls of that name are esbuild's.
var helper = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?m)^\s*var __name = \([\w$]+, [\w$]+\) => __defProp\([\w$]+, "name", \{`,
	)
})

const helperWithin = 4 << 10 // the length of the code that is searched for the helper

// token is a token that is neither space nor comment.
type token struct {
	kind       js.TokenType
	start, end int
}

// bracket is an open bracket.
type bracket struct {
	kind      js.TokenType
	condition bool  // the parenthesis of an if, for, while or with
	call      *call // the parenthesis of a call of the helper
	class     *class
	block     *block // the brace of the first static block of a class
}

// class is a class whose body has not begun, or is open.
type class struct {
	depth int    // the open brackets around it
	name  string // that the language gives it; "" for none
}

// block is a static block that names its class.
type block struct {
	start int // the offset of "static"
	class *class
	named int // the end of the call, if it begins the block and is redundant
}

// call is a call of the helper.
type call struct {
	start     int // of the whole call, with the annotation before it
	inside    int // start of its arguments
	statement bool
	first     bool   // of its block
	target    string // the printed name that the language gives the function
}

// namer reads the tokens of a bundle that is not minified.
type namer struct {
	code    []byte
	lexer   *js.Lexer
	at      int      // start of the next token
	last    [4]token // the newest first
	newLine bool     // since the newest
	pure    int      // start of the annotation before the next token, -1 without
	open    []bracket
	closed  bracket // the newest closed one
	ended   *call   // a statement, if a semicolon follows
	class   *class  // whose head is read
	blanks  [][2]int
}

var errUnsure = errors.New("the code cannot be read with certainty")

// WithoutCalls returns code without redundant calls of esbuild's helper. It keeps code that it cannot parse with certainty.
func WithoutCalls(code []byte) []byte {
	if !helper().Match(code[:min(len(code), helperWithin)]) {
		return code
	}
	in := parse.NewInputBytes(bytes.Clone(code))
	n := &namer{code: code, lexer: js.NewLexer(in), pure: -1}
	if err := n.run(); err != nil {
		return code
	}
	out := bytes.Clone(code)
	for _, blank := range n.blanks {
		for i := blank[0]; i < blank[1]; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return out
}

func (n *namer) run() error {
	for {
		kind, text := n.lexer.Next()
		switch kind {
		case js.ErrorToken:
			if errors.Is(n.lexer.Err(), io.EOF) && len(n.open) == 0 {
				return nil
			}
			return errUnsure
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			n.newLine = true
		case js.WhitespaceToken:
		case js.CommentToken:
			if string(text) == "/* @__PURE__ */" {
				n.pure = n.at
			}
		default:
			var err error
			if text, err = n.token(kind, text); err != nil {
				return err
			}
		}
		n.at += len(text)
	}
}

// token handles the next token and returns its whole text.
func (n *namer) token(kind js.TokenType, text []byte) ([]byte, error) {
	if kind == js.DivToken || kind == js.DivEqToken {
		begins, err := n.expressionBegins()
		if err != nil {
			return nil, err
		}
		if begins {
			if kind, text = n.lexer.RegExp(); kind == js.ErrorToken {
				return nil, errUnsure
			}
		}
	}
	if n.ended != nil && kind == js.SemicolonToken {
		n.blank(n.ended.start, n.at+len(text))
	}
	n.ended = nil
	t := token{kind, n.at, n.at + len(text)}
	n.readHead(t)
	if _, opens := pairs[kind]; opens {
		n.open = append(n.open, n.opens(t))
	} else if kind == js.CloseParenToken || kind == js.CloseBraceToken || kind == js.CloseBracketToken || kind == js.TemplateEndToken {
		if err := n.closes(t); err != nil {
			return nil, err
		}
	}
	if string(text) != "__name" {
		n.pure = -1
	}
	copy(n.last[1:], n.last[:])
	n.last[0], n.newLine = t, false
	return text, nil
}

func (n *namer) text(t token) string { return string(n.code[t.start:t.end]) }

// isProperty reports whether the token n.last[i] makes the next name a property.
func (n *namer) isProperty(i int) bool {
	return n.last[i].kind == js.DotToken || n.last[i].kind == js.OptChainToken
}

// expressionBegins reports whether an expression begins after the newest token, so that a slash begins a regular expression.
func (n *namer) expressionBegins() (bool, error) {
	switch kind := n.last[0].kind; {
	case js.IsIdentifierName(kind) && n.isProperty(1):
		return false, nil
	case kind == js.OfToken:
		return false, errUnsure // a name, or the "of" of a loop
	case kind == js.YieldToken: // a module's code is strict
		return true, nil
	case kind == js.ThisToken, kind == js.SuperToken, kind == js.NullToken, kind == js.TrueToken, kind == js.FalseToken:
		return false, nil
	case js.IsReservedWord(kind):
		return true, nil
	case js.IsIdentifier(kind), js.IsNumeric(kind):
		return false, nil
	case kind == js.CloseBraceToken:
		return n.newLine, nil // esbuild ends a statement's line, but never an expression's
	case kind == js.CloseParenToken:
		return n.closed.condition, nil
	case kind == js.StringToken, kind == js.TemplateToken, kind == js.TemplateEndToken, kind == js.RegExpToken,
		kind == js.PrivateIdentifierToken, kind == js.CloseBracketToken, kind == js.IncrToken, kind == js.DecrToken:
		return false, nil
	}
	return true, nil
}

// readHead follows the head of a class.
func (n *namer) readHead(t token) {
	switch {
	case t.kind == js.ClassToken && !n.isProperty(0):
		n.class = &class{depth: len(n.open), name: n.assigned(0)}
	case n.class == nil || n.last[0].kind != js.ClassToken:
	case js.IsIdentifier(t.kind):
		n.class.name = n.text(t)
	case t.kind != js.ExtendsToken && t.kind != js.OpenBraceToken:
		n.class = nil // "class" is the name of a property
	}
}

// assigned returns the name that the language gives an anonymous function or class after the token n.last[i]; "" for none.
func (n *namer) assigned(i int) string {
	key := n.last[i+1]
	switch before := n.last[i].kind; {
	case before == js.EqToken && !n.isProperty(i+2) && (js.IsIdentifierName(key.kind) || key.kind == js.PrivateIdentifierToken),
		before == js.ColonToken:
		return strings.Trim(n.text(key), `"'`)
	}
	return ""
}

// opens returns the bracket of an opening token.
func (n *namer) opens(t token) bracket {
	b := bracket{kind: t.kind}
	if t.kind == js.OpenBraceToken {
		switch {
		case n.class != nil && n.class.depth == len(n.open):
			b.class, n.class = n.class, nil
		case n.text(n.last[0]) == "static" && n.last[1].kind == js.OpenBraceToken && n.open[len(n.open)-1].class != nil:
			b.block = &block{start: n.last[0].start, class: n.open[len(n.open)-1].class}
		}
	}
	if t.kind != js.OpenParenToken {
		return b
	}
	switch before := n.last[0]; {
	case before.kind == js.AwaitToken:
		b.condition = n.last[1].kind == js.ForToken && !n.isProperty(2)
	case before.kind == js.IfToken, before.kind == js.ForToken, before.kind == js.WhileToken, before.kind == js.WithToken:
		b.condition = !n.isProperty(1)
	case n.text(before) == "__name":
		b.call = n.calls(t)
	}
	return b
}

// calls returns the call of the helper that begins with a parenthesis.
func (n *namer) calls(t token) *call {
	c := &call{start: n.last[0].start, inside: t.end}
	if n.pure >= 0 {
		c.start = n.pure
	}
	if own := ownName.FindSubmatch(n.code[t.end:min(len(n.code), t.end+maxOwn)]); own != nil {
		c.target = string(own[1])
		return c
	}
	switch before := n.last[1].kind; before {
	case js.SemicolonToken, js.OpenBraceToken, js.CloseBraceToken:
		c.statement, c.first = true, before == js.OpenBraceToken
	default:
		c.target = n.assigned(1)
	}
	return c
}

// ownName matches the beginning of a function with a name of its own.
var ownName = regexp.MustCompile(`^(?:(?:async )?function\*? ?|class )([^\s({]+)`)

const maxOwn = 256 // the length of a function's beginning that is searched for its own name

// closes handles a closing bracket.
func (n *namer) closes(t token) error {
	if len(n.open) == 0 {
		return errUnsure
	}
	n.closed = n.open[len(n.open)-1]
	n.open = n.open[:len(n.open)-1]
	if pairs[n.closed.kind] != t.kind {
		return errUnsure
	}
	if b := n.closed.block; b != nil && b.named > 0 && n.last[0].kind == js.SemicolonToken && n.last[0].start == b.named {
		n.blank(b.start, t.end)
	}
	c := n.closed.call
	if c == nil || n.last[0].kind != js.StringToken || n.last[1].kind != js.CommaToken {
		return nil
	}
	name := strings.Trim(n.text(n.last[0]), `"'`)
	if strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || r > unicode.MaxASCII }) {
		return nil // the text is not the name, or has another length in the source map
	}
	switch {
	case c.statement && n.last[2].start == c.inside && n.text(n.last[2]) == name:
		n.ended = c
	case c.first && n.last[2].start == c.inside && n.last[2].kind == js.ThisToken:
		if b := n.open[len(n.open)-1].block; b != nil && b.class.name == name {
			b.named = t.end
		}
	case !c.statement && c.target == name && name != "":
		n.blank(c.start, c.inside)
		n.blank(n.last[1].start, t.end)
	}
	return nil
}

var pairs = map[js.TokenType]js.TokenType{
	js.OpenParenToken: js.CloseParenToken, js.OpenBraceToken: js.CloseBraceToken,
	js.OpenBracketToken: js.CloseBracketToken, js.TemplateStartToken: js.TemplateEndToken,
}

func (n *namer) blank(from, to int) { n.blanks = append(n.blanks, [2]int{from, to}) }
