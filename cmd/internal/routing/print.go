package routing

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

// WriteTable writes the routes for people.
func WriteTable(out io.Writer, l site.Listing, m *manifest.Manifest) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := []string{"PATTERN", "ACCESS", "ANSWERED BY"}
	if slices.ContainsFunc(l.Routes, func(r site.ListedRoute) bool { return len(r.Notes) > 0 }) {
		head = append(head, "NOTES")
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, r := range l.Routes {
		by := staticFiles(m)
		if r.Answers == "worker" {
			by = "worker " + r.Entry
		}
		row := []string{r.Pattern, string(r.Access), by}
		if len(r.Notes) > 0 {
			row = append(row, strings.Join(r.Notes, "; "))
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	by := staticFiles(m)
	if l.Default.Answers == "none" {
		by = "nothing: 404"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\n", "(any other)", l.Default.Access, by)
	return w.Flush()
}

// staticFiles describes the place of the static files.
func staticFiles(m *manifest.Manifest) string {
	if filepath.Clean(m.Assets) == "." { // none, or the site's own
		return "static files"
	}
	return "static files in " + m.Assets
}

// WriteExplanation writes the facts one a line, and the reasons below.
func WriteExplanation(w io.Writer, e site.Explanation, entry, persona string) {
	as := persona
	if as == string(site.VisitorSignedOut) {
		as = "a signed-out visitor"
	}
	target := e.Target
	if !strconv.CanBackquote(target) { // no control character reaches a terminal
		target = strconv.Quote(target)
	}
	fmt.Fprintf(w, "%s %s as %s\n\n", e.Method, target, as)
	answer := string(e.Answer)
	if e.Answer == site.AnswerWorker {
		answer += " " + entry
	}
	if e.Gate == site.GateSignIn || e.Gate == site.GateForbidden {
		answer += ", behind the gate"
	}
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	}
	pattern := e.Pattern
	if pattern == "" && e.Access != "" {
		pattern = "none"
	}
	for _, fact := range []struct{ name, value string }{
		{"path", e.Path},
		{"pattern", pattern},
		{"access", string(e.Access)},
		{"gate", string(e.Gate)},
		{"answer", answer},
		{"file", e.File},
		{"rule", e.Rule},
		{"location", e.Location},
		{"status", status},
	} {
		if fact.value != "" {
			fmt.Fprintf(w, "%-9s %s\n", fact.name, fact.value)
		}
	}
	for _, header := range e.Headers {
		fmt.Fprintf(w, "%-9s %s\n", "header", header)
	}
	fmt.Fprintln(w, "\nwhy")
	for _, reason := range e.Why {
		fmt.Fprintf(w, "  - %s\n", reason)
	}
}
