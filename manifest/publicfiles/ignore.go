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

// This file reads ".assetsignore", which says what in the assets folder is not public, in the syntax of
// gitignore(5), in which case counts. Builds that put their Worker among the static files (SvelteKit, Astro) write one.
// That it is heeded at all is an assumption. Patterns become Go's regular expressions, which take linear time: no
// hostile one costs more than its length. A test holds them to git.

// ignoreName is the file's name. Only the one at the top of the assets folder counts.
const ignoreName = ".assetsignore"

// IgnoreFile is where the folder's list of what is not public lies, if it has one, relative to the bundle root.
func (a Folder) IgnoreFile() string { return path.Join(a.Dir, ignoreName) }

// ignoreRule is one line of the file.
type ignoreRule struct {
	paths   *regexp.Regexp // relative to the assets folder; nil matches none
	folders bool           // files are not meant
	public  bool           // "!": what an earlier line left out is public after all
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
	return parseIgnore(string(text)), nil
}

func parseIgnore(text string) (rules ignoreRules) {
	for line := range strings.Lines(strings.TrimPrefix(text, sourcetext.ByteOrderMark)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if rule, ok := parseIgnoreLine(norm.NFC.String(line)); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

// parseIgnoreLine reads one line; blank ones and comments are no rules.
func parseIgnoreLine(line string) (rule ignoreRule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return rule, false
	}
	line, rule.public = strings.CutPrefix(trimSpaces(line), "!")
	line, rule.folders = strings.CutSuffix(line, "/")
	if line == "" {
		return rule, false
	}
	if strings.Contains(line, "/") { // it is about one place
		line = strings.TrimPrefix(line, "/")
	} else {
		line = "**/" + line
	}
	rule.paths = translateGlob(line)
	return rule, true
}

// trimSpaces removes spaces at the end that no backslash keeps.
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

// ignores reports whether the last rule that names a path leaves it out. Folders above it are not looked at: a
// walk does not go into one that is left out.
func (r ignoreRules) ignores(rel string, folder bool) bool {
	for _, rule := range slices.Backward(r) {
		if rule.paths != nil && (folder || !rule.folders) && rule.paths.MatchString(rel) {
			return !rule.public
		}
	}
	return false
}

// translateGlob makes a regular expression of a pattern. It is nil for one that cannot match, such as with a
// bracket that is not closed.
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
	if err != nil { // larger than regular expressions may be
		return nil
	}
	return compiled
}

// globPart translates what a pattern begins with, and says how many bytes that was; 0 for what matches nothing.
// first tells that a path segment begins here.
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

// globClass translates "[a-z]", "[!a]" and "[[:digit:]]" and says how many bytes that was; 0 when it never ends or
// names no class.
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
			members := posixClass(name)
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
		addRange(&set, low, min(high, '/'-1)) // no class has the slash in it
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

// classRune is the next character of a class, which a backslash may come before.
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

// posixClass is what a named class has in it, but for the slash; "" for a name that is none.
func posixClass(name string) string {
	switch name {
	case "alnum":
		return `0-9A-Za-z`
	case "alpha":
		return `A-Za-z`
	case "blank":
		return ` \t`
	case "cntrl":
		return `\x00-\x1f\x7f`
	case "digit":
		return `0-9`
	case "graph":
		return `!-.0-~`
	case "lower":
		return `a-z`
	case "print":
		return ` -.0-~`
	case "punct":
		return `!-.:-@\[-\x60{-~`
	case "space":
		return `\t-\r `
	case "upper":
		return `A-Z`
	case "xdigit":
		return `0-9A-Fa-f`
	}
	return ""
}
