package site

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// This file holds the reasons that an explanation gives. Each is a sentence for
// people; what is decided stands in the file of the routing.

// whyPattern names the pattern that counts, and those that lost.
func (v *Routing) whyPattern(path string) []string {
	all := v.routes.Covering(path)
	switch {
	case len(all) == 0 && v.worker:
		return []string{"no route covers the path, so the Worker is not asked"}
	case len(all) == 0:
		return []string{"no route covers the path"}
	case len(all) == 1:
		return []string{fmt.Sprintf("the route %q covers the path", all[0])}
	}
	return []string{fmt.Sprintf("the route %q is the most specific one that covers the path; %s less so", all[0], enumerate(all[1:], "covers", "cover"))}
}

// enumerate is `"a" covers`, or `"a", "b" and "c" cover`.
func enumerate(names []string, one, many string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	if len(names) == 1 {
		return quoted[0] + " " + one
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " and " + quoted[last] + " " + many
}

// whyAccess says why the gate is there, or is not although a members route covers the path.
func (v *Routing) whyAccess(path string, a admission) []string {
	all := []string{path}
	if a.rule.Path != "" {
		all = append(all, a.rule.Path)
	}
	if a.hit.file != nil {
		all = append(all, manifest.FileNames(a.hit.file.asset.Path)...)
	}
	members, public := v.routes.Claims(all)
	exactly, _ := v.routes.Match(path)
	switch {
	case members.Rank == 0:
		return nil
	case !a.gated:
		return []string{fmt.Sprintf("the members route %q covers it as well, but the public route %q is more specific", members.Pattern, public.Pattern)}
	case members.Name != path:
		return []string{fmt.Sprintf("the members route %q guards %q, another name of the same file", members.Pattern, members.Name)}
	case members.Pattern != exactly:
		return []string{fmt.Sprintf("the members route %q guards the path too: the gate ignores case, a slash at the end and other spellings of the same path", members.Pattern)}
	}
	return []string{fmt.Sprintf("%q is for members", members.Pattern)}
}

// whyRule says what a rule of "_redirects" does.
func whyRule(d decision) []string {
	line := fmt.Sprintf("line %d of %s ", d.rule.Line, sitepath.RedirectsFile)
	switch {
	case d.refusal != nil || d.rule.Line == 0:
		return nil
	case d.rule.Refused():
		return []string{line + "covers the path, and leads to one that is not the site's: nothing answers"}
	case d.rule.Path != "":
		return []string{line + "answers with the file of " + edgerules.EscapePath(d.rule.Path) + ", before files and Worker"}
	}
	return []string{line + "leads elsewhere, before files and Worker"}
}

// whyFile says which files were looked for, and which one was found first.
func (v *Routing) whyFile(path string, hit found) []string {
	if len(v.static.files) == 0 {
		return []string{"the site has no static files"}
	}
	looked := "looked among the assets for " + listPaths(v.static.candidates(path))
	if hit.file == nil {
		return []string{looked + ": not there"}
	}
	return []string{looked + ": found " + hit.file.asset.Path[1:]}
}

// listPaths is "a", or "a, b or c", without leading slashes.
func listPaths(paths []string) string {
	short := make([]string, len(paths))
	for i, path := range paths {
		short[i] = path[1:]
	}
	last := len(short) - 1
	if last == 0 {
		return short[0]
	}
	return strings.Join(short[:last], ", ") + " or " + short[last]
}

// whyAnswer says why this one answers.
func (v *Routing) whyAnswer(path, method string, d decision) []string {
	switch d.answer {
	case AnswerWorker:
		if d.file == nil {
			return []string{"the path is listed and no file lies there, so the Worker answers"}
		}
		return []string{"files answer GET and HEAD only; of a listed path, the Worker answers the rest"}
	case AnswerAsset, AnswerRedirect:
		var why []string
		if d.route != "" && v.worker && d.rule.Line == 0 {
			why = append(why, "a file answers GET and HEAD before the Worker is asked")
		}
		if d.redirect != "" && d.rule.Line == 0 {
			why = append(why, "the page is known as "+edgerules.EscapePath(d.redirect)+": 307 leads there")
		}
		return why
	case AnswerNotFound, AnswerNotFoundPage:
		return v.whyNotFound(cmp.Or(d.rule.Path, path), method, d.file)
	default:
		return v.whyRefused(d)
	}
}

func (v *Routing) whyRefused(d decision) []string {
	switch {
	case d.refusal != nil:
		return []string{d.refusal.Message}
	case v.worker:
		return []string{`files answer GET and HEAD only; a path in "routes" of the manifest is the Worker's to answer`}
	}
	return []string{"files answer GET and HEAD only, and the site has no Worker"}
}

// whyNotFound names the 404 page, or says why there is none.
func (v *Routing) whyNotFound(path, method string, page *file) []string {
	nearest := v.static.notFoundPage(path, true)
	switch {
	case nearest == nil:
		return []string{"no 404.html lies beside the path or above it"}
	case !readOnly(method):
		return []string{"a 404 page answers GET and HEAD only"}
	case page == nearest:
		return []string{"the nearest 404 page upwards is " + page.asset.Path[1:]}
	}
	why := []string{nearest.asset.Path[1:] + " is for members, and not shown on a public path"}
	if page == nil {
		return append(why, "there is no other 404 page upwards")
	}
	return append(why, "the next 404 page upwards is "+page.asset.Path[1:])
}
