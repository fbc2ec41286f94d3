package publicfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file reads ".assetsignore", which lists files of the assets folder that are not public, in the syntax of
// gitignore(5), case-sensitive. Builds that put their Worker among the static files (SvelteKit, Astro) write one. That the
// platform honours it is an assumption. Patterns become Go's regular expressions, which take linear time: no hostile one
// costs more than its length. A test compares them with git.

// IgnoreFile returns the path of the folder's .assetsignore, relative to the bundle root. Those below it do not count.
func (a Folder) IgnoreFile() string { return path.Join(a.Dir, ".assetsignore") }

// ignoreRule is one line of the file.
type ignoreRule struct {
	paths   *regexp.Regexp // relative to the assets folder; nil matches none
	folders bool           // it does not match files
	public  bool           // "!": it overrides earlier lines
}

type ignoreRules []ignoreRule

// readIgnore reads the file; without one there are no rules.
func (a Folder) readIgnore(fsys fs.FS) (ignoreRules, error) {
	text, err := sitepath.ReadFile(fsys, a.IgnoreFile(), limits.MaxManifestBytes+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(text) > limits.MaxManifestBytes:
		return nil, fmt.Errorf("it is longer than %d bytes", limits.MaxManifestBytes)
	}
	var rules ignoreRules
	for line := range strings.Lines(strings.TrimPrefix(string(text), sourcetext.ByteOrderMark)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if rule, ok := parseIgnoreLine(norm.NFC.String(line)); ok {
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// parseIgnoreLine reads one line; false for blank ones and comments.
func parseIgnoreLine(line string) (rule ignoreRule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return rule, false
	}
	line, rule.public = strings.CutPrefix(trimSpaces(line), "!")
	line, rule.folders = strings.CutSuffix(line, "/")
	if line == "" {
		return rule, false
	}
	if strings.Contains(line, "/") { // it matches at one place
		line = strings.TrimPrefix(line, "/")
	} else {
		line = "**/" + line
	}
	rule.paths = translateGlob(line)
	return rule, true
}

// trimSpaces removes spaces at the end without a backslash before them.
func trimSpaces(line string) string {
	end, escaped := 0, false
	for i, r := range line {
		if r != ' ' || escaped {
			end = i + utf8.RuneLen(r)
		}
		escaped = r == '\\' && !escaped
	}
	return line[:min(end, len(line))]
}

// ignores reports whether the last matching rule excludes a path. It does not check the folders above: a walk skips
// excluded folders.
func (r ignoreRules) ignores(rel string, folder bool) bool {
	for _, rule := range slices.Backward(r) {
		if rule.paths != nil && (folder || !rule.folders) && rule.paths.MatchString(rel) {
			return !rule.public
		}
	}
	return false
}

// translateGlob makes a regular expression of a pattern; nil for one that cannot match, as with an unclosed bracket.
func translateGlob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for rest := pattern; rest != ""; {
		text, length := globPart(rest, len(rest) == len(pattern) || pattern[len(pattern)-len(rest)-1] == '/')
		if length == 0 {
			return nil
		}
		b.WriteString(text)
		rest = rest[length:]
	}
	b.WriteString(`\z`)
	compiled, err := regexp.Compile(b.String())
	if err != nil { // the expression is too large
		return nil
	}
	return compiled
}

// globPart translates the first part of a pattern, and returns its length in bytes; 0 when it matches nothing. first means
// that a path segment begins here.
func globPart(rest string, first bool) (text string, length int) {
	const segment = `[^/]*`
	switch {
	case first && strings.HasPrefix(rest, "**/"):
		return `(?:[^/]+/)*`, len("**/")
	case first && rest == "**":
		return `(?s:.*)`, len(rest)
	case rest[0] == '*':
		return segment, len(rest) - len(strings.TrimLeft(rest, "*"))
	case rest[0] == '?':
		return `[^/]`, 1
	case rest[0] == '[':
		return globClass(rest)
	case rest == `\`:
		return "", 0
	}
	start := 0
	if rest[0] == '\\' {
		start = 1
	}
	_, size := utf8.DecodeRuneInString(rest[start:])
	return regexp.QuoteMeta(rest[start : start+size]), start + size
}

// globClass translates "[a-z]", "[!a]" and "[[:digit:]]" and returns its length in bytes; 0 when it never ends or names no
// class.
func globClass(rest string) (text string, length int) {
	at, negated := 1, false
	if at < len(rest) && (rest[at] == '!' || rest[at] == '^') {
		negated = true
		at++
	}
	var set strings.Builder
	for begin := at; at < len(rest) && (rest[at] != ']' || at == begin); {
		if named, ok := strings.CutPrefix(rest[at:], "[:"); ok {
			name, _, closed := strings.Cut(named, ":]")
			members := posixClasses[name]
			if !closed || members == "" {
				return "", 0
			}
			set.WriteString(members)
			at += len("[:") + len(name) + len(":]")
			continue
		}
		low, size := classRune(rest[at:])
		at += size
		high := low
		if strings.HasPrefix(rest[at:], "-") && len(rest) > at+1 && rest[at+1] != ']' {
			high, size = classRune(rest[at+1:])
			at += 1 + size
		}
		addRange(&set, low, min(high, '/'-1)) // no class has the slash
		addRange(&set, max(low, '/'+1), high)
	}
	switch {
	case at >= len(rest):
		return "", 0
	case negated:
		return `[^/` + set.String() + `]`, at + 1
	case set.Len() == 0:
		return "", 0
	}
	return `[` + set.String() + `]`, at + 1
}

// classRune returns the next character of a class, maybe after a backslash.
func classRune(rest string) (r rune, length int) {
	start := 0
	if rest[0] == '\\' && len(rest) > 1 {
		start = 1
	}
	r, size := utf8.DecodeRuneInString(rest[start:])
	return r, start + size
}

func addRange(set *strings.Builder, low, high rune) {
	if low <= high {
		fmt.Fprintf(set, `\x{%x}-\x{%x}`, low, high)
	}
}

// posixClasses are the characters of the named classes, without the slash.
var posixClasses = map[string]string{
	"alnum": `0-9A-Za-z`, "alpha": `A-Za-z`, "blank": ` \t`, "cntrl": `\x00-\x1f\x7f`, "digit": `0-9`, "graph": `!-.0-~`,
	"lower": `a-z`, "print": ` -.0-~`, "punct": `!-.:-@\[-\x60{-~`, "space": `\t-\r `, "upper": `A-Z`, "xdigit": `0-9A-Fa-f`,
}
