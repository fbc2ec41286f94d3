package framework

import (
	"regexp"
	"strings"
)

// This file edits configurations. They are code, so it edits only a text with exactly one place for the change.

var comment = regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:(?:^|\s)//.*$)`)

// code returns a text of JavaScript without its comments.
func code(text string) string { return comment.ReplaceAllString(text, "") }

// byHand is an edit for a person.
func byHand(file string, lines ...string) Edit {
	e := Edit{File: file}
	for _, line := range lines {
		e.Lines = append(e.Lines, Line{true, line})
	}
	return e
}

// newEdit is the edit that leads from one text to another.
func newEdit(file, before, after string) Edit {
	e := Edit{File: file, After: []byte(after)}
	was, is := lines(before), lines(after)
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	for len(was) > 0 || len(is) > 0 {
		switch at := index(is, was); {
		case at == 0:
			was, is = was[1:], is[1:]
		case at > 0:
			for range at {
				e.Lines, is = append(e.Lines, Line{true, is[0]}), is[1:]
			}
		default:
			e.Lines, was = append(e.Lines, Line{false, was[0]}), was[1:]
		}
	}
	return e
}

// index returns the position of the first of some lines among others: after the last without lines to find, -1 when it is missing.
func index(in, of []string) int {
	if len(of) == 0 {
		return len(in)
	}
	for i, line := range in {
		if line == of[0] {
			return i
		}
	}
	return -1
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// inOptions adds an option to the object that a call in a file begins with, as "defineConfig({", and an import before it; "" for
// none.
func (p *project) inOptions(file, call, importLine, option string) Edit {
	text := p.text(file)
	begin := regexp.MustCompile(regexp.QuoteMeta(call)+`\s*\{`).FindAllStringIndex(text, 2)
	if len(begin) != 1 || strings.Count(code(text), call) != 1 {
		byThem := []string{option}
		if importLine != "" {
			byThem = []string{importLine, option}
		}
		return byHand(file, byThem...)
	}
	feed := "\n"
	if strings.Contains(text, "\r\n") {
		feed = "\r\n"
	}
	at := begin[0][1]
	rest := text[at:]
	inserted := " " + option // on the line of the others
	switch next := strings.TrimLeft(rest, " \t"); {
	case strings.HasPrefix(next, "}"):
		inserted, rest = feed+"  "+option, feed+next
	case strings.HasPrefix(next, "\n"), strings.HasPrefix(next, "\r\n"):
		unit := "  "
		if found := regexp.MustCompile(`\n([ \t]+)\S`).FindStringSubmatch(rest); found != nil {
			unit = found[1]
		}
		inserted = feed + unit + option
	}
	after := text[:at] + inserted + rest
	if importLine == "" {
		return newEdit(file, text, after)
	}
	first := 0
	if found := regexp.MustCompile(`(?m)^import\b`).FindStringIndex(text); found != nil {
		first = found[0]
	}
	return newEdit(file, text, after[:first]+importLine+feed+after[first:])
}
