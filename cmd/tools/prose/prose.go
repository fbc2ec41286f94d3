// Package prose finds phrases that STYLE.md rules out: clauses in place of nouns, and passives that hide who acts; and words written
// twice. In: the text of a file and its name. Out: a [Finding] for each, with the line and the advice. It reads comments and sentences
// in string literals of Go, JavaScript and TypeScript, and every line of other files. Pure functions, safe for concurrent use.
package prose

import (
	"bytes"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Finding is a phrase in a file.
type Finding struct {
	Line   int // 1-based
	Text   string
	Advice string
}

// phrase is a pattern of text, with the way to write it.
type phrase struct {
	pattern *regexp.Regexp
	advice  string
	except  *regexp.Regexp // matches that are plain English; nil for none
}

var phrases = []phrase{
	{pattern: regexp.MustCompile(`(?i)\b(is|are|was|were|be) what\b`), advice: `name the thing: "Report is the output of …"`},
	{
		pattern: regexp.MustCompile(`(?i)(^|[\s(])nobody\b($|[^@\w])`),
		advice:  `name the subject, or say "no request", "unread", "without a reader"`,
	},
	{pattern: regexp.MustCompile(`(?i)\bwhoever\b`), advice: `name the person or the part: "the client that …"`},
	{
		pattern: regexp.MustCompile(`(?i)\b(is|are|was|were|be|been) told\b|\btold of\b`),
		advice:  `say who reports it: "the log names …", "gets a message"`,
	},
	{pattern: regexp.MustCompile(`(?i)\bhears? of\b`), advice: `say "gets", "learns of", "fails with"`},
	{pattern: regexp.MustCompile(`(?i)\bshall\b`), advice: `use the imperative, or "must"`},
	{
		pattern: regexp.MustCompile(`(?i)\bwhat (is|was|are|were)\b`),
		advice:  `name the thing: "the missing files", "the live revision"`,
	},
	{pattern: regexp.MustCompile(`(?i)(^|[\s("])(go-ahead|lapses?d?)\b`), advice: `say "approval", "expires"`},
	{pattern: regexp.MustCompile(`(?i)\bfor ever\b($|[^(])`), advice: `say "permanently", "without end"`},
	{pattern: regexp.MustCompile(`(?i)\bbehind the (end|first|last|next|name|statement|comma|text)\b`), advice: `say "after"`},
	{pattern: regexp.MustCompile(`(?i)\bnothing but\b`), advice: `say "only"`},
	{
		pattern: regexp.MustCompile(`(?i)\b(it|this|that|which|they|these|those) (is|are|was|were) no [a-z]+`), advice: `say "is not a …"`,
		except: regexp.MustCompile(`(?i) no (longer|more|less|one|such|better|larger|smaller|older|newer|wider|faster|further)$`),
	},
	{
		pattern: regexp.MustCompile(`^\s*(//|/?\*\*?)\s*\w+ (is|are) for (a|an|the) `),
		advice:  `begin with the action: "idled wakes the pool when …"`,
	},
	{
		pattern: regexp.MustCompile(`\b([eE]rr[A-Z]\w*|\w+Error) (says|tells) (that|whether|why|how)\b`),
		advice:  `say "means that", "is the reason why"`,
	},
	{
		pattern: regexp.MustCompile(`(?i)\btells? of (a|an|the|that|which|what|this|one|no|lost|it|its)\b`),
		advice:  `say "reports", "mentions"`,
	},
}

// doubled are words that never follow themselves in a sentence.
var doubled = strings.Fields("an and are as be before by for from has is it not of only or the to true: with")

// Check returns the phrases in a file, in the order of their lines. The extension of name chooses the parts that are read.
func Check(name string, text []byte) []Finding {
	switch path.Ext(name) {
	case ".go":
		return checkGo(text)
	case ".js", ".mjs", ".cjs", ".ts", ".tsx":
		return checkScript(text)
	default:
		return matchLines(1, string(text))
	}
}

// checkScript reads the comments, strings and templates of JavaScript or TypeScript.
func checkScript(text []byte) (found []Finding) {
	lexer := js.NewLexer(parse.NewInputBytes(bytes.Clone(text)))
	number, last := 1, js.ErrorToken
	for {
		kind, token := lexer.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && beginsExpression(last) {
			kind, token = lexer.RegExp()
		}
		switch kind { //nolint:exhaustive // others have no sentences
		case js.ErrorToken:
			return found
		case js.CommentToken, js.CommentLineTerminatorToken, js.StringToken,
			js.TemplateToken, js.TemplateStartToken, js.TemplateMiddleToken, js.TemplateEndToken:
			if strings.Contains(string(token), " ") {
				found = append(found, matchLines(number, string(token))...)
			}
		}
		number += bytes.Count(token, []byte("\n"))
		switch kind {
		case js.WhitespaceToken, js.LineTerminatorToken, js.CommentToken, js.CommentLineTerminatorToken:
		default:
			last = kind
		}
	}
}

// beginsExpression reports whether a slash after a token begins a regular expression.
func beginsExpression(last js.TokenType) bool {
	switch last { //nolint:exhaustive // others come before an expression
	case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.StringToken, js.TemplateToken, js.TemplateEndToken,
		js.RegExpToken, js.PrivateIdentifierToken, js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken,
		js.IncrToken, js.DecrToken:
		return false
	}
	return !js.IsNumeric(last) && !js.IsIdentifier(last)
}

func checkGo(text []byte) (found []Finding) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return found
		}
		sentence := literal
		if kind == token.STRING {
			unquoted, err := strconv.Unquote(literal)
			if err != nil || !strings.Contains(unquoted, " ") {
				continue
			}
			sentence = unquoted
		} else if kind != token.COMMENT {
			continue
		}
		found = append(found, matchLines(file.Line(at), sentence)...)
	}
}

// matchLines returns the phrases in lines of text, the first of which has a number.
func matchLines(number int, text string) (found []Finding) {
	for line := range strings.SplitSeq(text, "\n") {
		found = append(found, match(number, line)...)
		number++
	}
	return found
}

func match(number int, line string) (found []Finding) {
	for _, p := range phrases {
		for _, at := range p.pattern.FindAllStringIndex(line, -1) {
			if p.except != nil && p.except.MatchString(line[at[0]:at[1]]) {
				continue
			}
			from, to := max(0, at[0]-30), min(len(line), at[1]+30)
			text := strings.ToValidUTF8(strings.TrimSpace(line[from:to]), "")
			found = append(found, Finding{Line: number, Text: text, Advice: p.advice})
		}
	}
	words := strings.Fields(line)
	for i := 1; i < len(words); i++ {
		if words[i] == words[i-1] && slices.Contains(doubled, words[i]) {
			found = append(found, Finding{Line: number, Text: words[i-1] + " " + words[i], Advice: "remove one of the two words"})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Line - b.Line })
	return found
}
