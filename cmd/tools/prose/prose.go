// Package prose finds phrases that STYLE.md rules out: clauses in place of nouns, and passives that hide who acts; and words written
// twice. In: the text of a file and its name. Out: a [Finding] for each, with the line and the advice. It reads comments and sentences
// in string literals of Go, comments of JavaScript, and every line of other files. Pure functions, safe for concurrent use.
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
}

var phrases = []phrase{
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be) what\b`), `name the thing: "Report is the output of …"`},
	{regexp.MustCompile(`(?i)(^|[\s(])nobody\b($|[^@\w])`), `name the subject, or say "no request", "unread", "without a reader"`},
	{regexp.MustCompile(`(?i)\bwhoever\b`), `name the person or the part: "the client that …"`},
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be|been) told\b|\btold of\b`), `say who reports it: "the log names …", "gets a message"`},
	{regexp.MustCompile(`(?i)\bhears? of\b`), `say "gets", "learns of", "fails with"`},
	{regexp.MustCompile(`(?i)\bshall\b`), `use the imperative, or "must"`},
	{regexp.MustCompile(`(?i)\bwhat (is|was|are|were)\b`), `name the thing: "the missing files", "the live revision"`},
	{regexp.MustCompile(`(?i)(^|[\s("])(go-ahead|lapses?d?)\b`), `say "approval", "expires"`},
	{regexp.MustCompile(`(?i)\bfor ever\b($|[^(])`), `say "permanently", "without end"`},
}

// doubled are words that never follow themselves in a sentence.
var doubled = strings.Fields("an and are as be before by for from has is it not of only or the to true: with")

// Check returns the phrases in a file, in the order of their lines. The extension of name chooses the parts that are read.
func Check(name string, text []byte) []Finding {
	switch path.Ext(name) {
	case ".go":
		return checkGo(text)
	case ".js":
		return checkLines(text, isComment)
	default:
		return checkLines(text, func([]byte) bool { return true })
	}
}

func checkLines(text []byte, reads func(line []byte) bool) (found []Finding) {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if reads(line) {
			found = append(found, match(number, string(line))...)
		}
	}
	return found
}

// isComment reports whether a line of JavaScript has a comment. A string with // counts as one: it can hold an address.
func isComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("*")) || bytes.HasPrefix(line, []byte("/*")) || bytes.Contains(line, []byte("//"))
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
		number := file.Line(at)
		for i, line := range strings.Split(sentence, "\n") {
			found = append(found, match(number+i, line)...)
		}
	}
}

func match(number int, line string) (found []Finding) {
	for _, p := range phrases {
		for _, at := range p.pattern.FindAllStringIndex(line, -1) {
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
