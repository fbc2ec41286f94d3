package edgerules

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/fileindex"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file follows redirects as a browser does: through the rules, and through the addresses that the site's own pages have.

const (
	maxHops        = 20      // how many redirects in a row browsers follow
	maxFollowed    = 20_000  // addresses of files that are followed, spread evenly
	maxFollowedURL = 8 << 10 // bytes of a path, as of a request
	maxShownHops   = 5
)

// tour follows the rules of a site from path to path.
type tour struct {
	rules *Rules
	files fileindex.Index[string]
	done  map[string]bool // paths that were followed to their end
	lines map[int]redirectRule
}

// hop is one redirect: the next request, and the rule that leads to it.
type hop struct {
	path string // escaped
	line int    // the line of the rule, 0 for a redirect to the address of a page
}

// checkLoops refuses every loop at the last of its rules. It repeats the check without rules that hide others.
func (r *Rules) checkLoops(f *edgeFile, files fileindex.Index[string]) (looped map[int]bool) {
	looped = map[int]bool{}
	for left := r; ; {
		t := &tour{rules: left, files: files, done: map[string]bool{}, lines: map[int]redirectRule{}}
		for _, rule := range left.redirects {
			t.lines[rule.line] = rule
		}
		found := t.loops(f)
		if len(found) == 0 {
			return looped
		}
		maps.Copy(looped, found)
		kept := slices.DeleteFunc(slices.Clone(left.redirects), func(rule redirectRule) bool { return looped[rule.line] })
		left = newRules(nil, kept)
	}
}

// loops refuses the redirect loops of requests for the files of the site, and for a sample of the paths of each rule. It
// returns the lines of the rules in them.
func (t *tour) loops(f *edgeFile) map[int]bool {
	looped := map[int]bool{}
	for start := range t.starts {
		chain, from, loop := t.follow(start)
		if !loop {
			continue
		}
		at, again := 0, false
		for _, h := range chain[from:] {
			again = again || looped[h.line]
			at = max(at, h.line)
		}
		for _, h := range chain[from:] {
			if h.line > 0 {
				looped[h.line] = true
			}
		}
		if !again {
			t.refuse(f, chain, from, t.lines[at])
		}
	}
	return looped
}

// starts yields the paths to follow.
func (t *tour) starts(yield func(path string) bool) {
	if len(t.rules.dynamic) > 0 {
		for name := range t.someFiles {
			for _, address := range [...]string{t.address(name), name, strings.TrimSuffix(name, ".html"), t.address(name) + "/"} {
				if !yield(EscapePath(address)) {
					return
				}
			}
		}
	}
	for _, rule := range slices.Backward(t.rules.redirects) {
		for _, sample := range rule.from.samples {
			if !yield(sample) {
				return
			}
		}
	}
}

// someFiles yields the paths of files that visitors may request; a sample for a large site.
func (t *tour) someFiles(yield func(path string) bool) {
	names := slices.Sorted(maps.Keys(t.files))
	for i := 0; i < len(names); i += 1 + len(names)/maxFollowed {
		if path.Base(names[i]) != "404.html" && !sitepath.EdgeFile(names[i]) && !yield(names[i]) {
			return
		}
	}
}

// address is the path at which the site serves a file.
func (t *tour) address(name string) string {
	if preferred := t.files.Preferred(name); preferred != "" {
		return preferred
	}
	return name
}

// follow follows redirects from a path. A loop begins at the element of the chain to which the last path leads; a loop that
// never repeats a path begins at the first element.
func (t *tour) follow(path string) (chain []hop, from int, loop bool) {
	at, times := map[string]int{}, map[int]int{}
	for path != "" && !t.done[path] {
		if i, again := at[path]; again {
			from, loop = i, true
			break
		}
		next, line := t.next(path)
		at[path] = len(chain)
		chain = append(chain, hop{path, line})
		path = next
		if rule := t.lines[line]; rule.varies() {
			times[line]++
		}
		if len(path) > maxFollowedURL || len(chain) > maxHops && times[line] > 2 {
			loop = true
			break
		}
	}
	for _, h := range chain {
		t.done[h.path] = true
	}
	return chain, from, loop
}

// next returns the escaped path of the redirect, "" for none, and the line of its rule.
func (t *tour) next(path string) (next string, line int) {
	d := t.rules.Redirect(path)
	switch {
	case d.Line == 0:
		decoded, _ := unescapeLiteral(path)
		_, redirect, _ := t.files.Resolve(decoded)
		return EscapePath(redirect), 0
	case d.Path != "":
		_, redirect, _ := t.files.Resolve(d.Path)
		return EscapePath(redirect), d.Line
	}
	return d.next(), d.Line
}

// refuse reports a loop at one of its rules.
func (t *tour) refuse(f *edgeFile, chain []hop, from int, rule redirectRule) {
	var shown []string
	for _, h := range chain[:min(len(chain), maxShownHops)] {
		shown = append(shown, h.path)
	}
	back, pages := chain[from].path, false
	for _, h := range chain[from:] {
		pages = pages || h.line == 0 || t.lines[h.line].status == 200
	}
	repeats := t.leadsTo(chain[len(chain)-1], back)
	if len(chain) > maxShownHops || !repeats {
		shown = append(shown, "…")
	}
	if repeats {
		shown = append(shown, back)
	}
	fix := "give it another destination"
	switch {
	case pages:
		fix = `remove the rule: the site redirects to the address of each page by itself, "/about" for about.html and ` +
			`"/docs/" for docs/index.html`
	case !repeats:
		fix = "redirect to a path that the rule does not cover"
	case len(chain)-from > 1:
		fix = "give one of its rules another destination"
	}
	for i := range shown {
		shown[i] = clip(shown[i])
	}
	f.refuse(diagnostic.CodeEdgeLoop, rule.at,
		fmt.Sprintf("a request for %s never arrives: %s", sourcetext.Quote(shown[0]), strings.Join(shown, " → ")), fix)
}

func (t *tour) leadsTo(last hop, path string) bool {
	next, _ := t.next(last.path)
	return next == path
}

// clip shortens a path for a message.
func clip(path string) string {
	const most = 60
	if len(path) <= most {
		return path
	}
	return path[:most] + "…"
}

// checkPages warns of rules that answer with the file of another path, and hide files or lead visitors away.
func (r *Rules) checkPages(f *edgeFile, files fileindex.Index[string], looped map[int]bool) {
	t := &tour{rules: r, files: files}
	hidden := map[int]string{}
	for name := range t.someFiles {
		d := r.Redirect(EscapePath(t.address(name)))
		if d.Path == "" || hidden[d.Line] != "" {
			continue
		}
		if target, _, _ := files.Resolve(d.Path); target != files[name] {
			hidden[d.Line] = name
		}
	}
	for _, rule := range r.redirects {
		if looped[rule.line] || rule.status != 200 || rule.fallback {
			continue
		}
		if name := hidden[rule.line]; name != "" {
			f.warn(diagnostic.CodeEdgeHides, rule.at,
				fmt.Sprintf("the rule hides files of the site, such as %s: rules apply before files", sourcetext.Quote(name[1:])),
				rule.hidesFix(files))
		}
		if better := rule.otherName(files); better != "" {
			f.warn(diagnostic.CodeEdgeAlias, rule.at,
				fmt.Sprintf("%s is another name of the page %s, to which it redirects with 307",
					sourcetext.Quote(rule.to), sourcetext.Quote(better)),
				"write "+sourcetext.Literal(better))
		}
	}
}

// hidesFix returns the fix for a rule that hides files.
func (r *redirectRule) hidesFix(files fileindex.Index[string]) string {
	if strings.HasSuffix(r.from.text, "/*") && !r.varies() {
		if file, _, ok := files.Resolve(r.target(r.to).Path); ok && path.Base(file) == "index.html" {
			return fmt.Sprintf(`write "/%s 200": by that name, the rule applies only where nothing else answers`, file)
		}
	}
	return "narrow the path of the rule, or remove the files"
}

// otherName returns the destination that a rule should have, where its own is another name of a page.
func (r *redirectRule) otherName(files fileindex.Index[string]) string {
	if r.varies() {
		if short, ok := strings.CutSuffix(r.to, ".html"); ok {
			return short
		}
		return ""
	}
	_, redirect, _ := files.Resolve(r.target(r.to).Path)
	return EscapePath(redirect)
}

// checkChains warns of a rule that begins more redirects than browsers follow. It checks a rule whose destination depends on
// the path only as a target of others.
func (r *Rules) checkChains(f *edgeFile, looped map[int]bool) {
	long := map[int][]int{} // by line
	for _, rule := range slices.Backward(r.redirects) {
		if looped[rule.line] || rule.varies() {
			continue
		}
		lines := r.chain(rule)
		if len(lines) > maxHops && !slices.ContainsFunc(lines, func(line int) bool { return looped[line] }) {
			long[rule.line] = lines
		}
	}
	r.warnChains(f, long)
}

// warnChains warns of each long chain at its first rule; long has the lines of the chain of each rule.
func (r *Rules) warnChains(f *edgeFile, long map[int][]int) {
	later, reported := map[int]bool{}, map[int]bool{} // later has the rules after the first of a chain
	for _, lines := range long {
		for _, line := range lines[1:] {
			later[line] = true
		}
	}
	for _, continued := range []bool{false, true} { // a long loop has no first rule
		for _, rule := range r.redirects {
			lines := long[rule.line]
			if len(lines) == 0 || later[rule.line] != continued || reported[rule.line] {
				continue
			}
			f.warn(diagnostic.CodeEdgeChain, rule.at,
				fmt.Sprintf("browsers give up after %d redirects in a row, and the rule starts a longer chain, through line %d",
					maxHops, lines[maxHops]),
				"redirect straight to the last address of the chain")
			for rest := []int{rule.line}; len(rest) > 0; rest = rest[1:] { // the chain, and those that continue it
				if line := rest[0]; !reported[line] {
					reported[line] = true
					rest = append(rest, long[line]...)
				}
			}
		}
	}
}

// chain returns the lines of the rules that a browser follows from a rule on, its own first: at most one more than browsers
// follow.
func (r *Rules) chain(rule redirectRule) (lines []int) {
	lines = append(lines, rule.line)
	for d := rule.target(rule.to); len(lines) <= maxHops; lines = append(lines, d.Line) {
		if d = r.Redirect(d.next()); d.Line == 0 || d.Status == 200 || d.Line == rule.line {
			return lines
		}
	}
	return lines
}
