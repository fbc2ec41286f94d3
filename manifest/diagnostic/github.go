package diagnostic

import (
	"fmt"
	"io"
	"strings"
)

const maxAnnotations = 10 // GitHub shows this many annotations of one severity for a step

// WriteGitHub writes workflow commands that GitHub Actions turns into annotations. GitHub shows ten errors and ten warnings
// of a step and drops the rest silently, so only those are written, and a notice counts the others. With summarized, the
// notice refers to the summary of the job that [WriteGitHubSummary] has written.
func WriteGitHub(w io.Writer, summarized bool, reports ...Report) error {
	var b strings.Builder
	written, left, omitted := map[Severity]int{}, 0, 0
	for _, r := range reports {
		omitted += r.Omitted
		for _, d := range r.Diagnostics {
			if written[d.Severity] == maxAnnotations {
				left++
				continue
			}
			written[d.Severity]++
			annotate(&b, r.file(d), d)
		}
	}
	if left+omitted > 0 {
		where := fmt.Sprintf(": the first %d are listed in the summary of this job", maxReported)
		switch {
		case !summarized:
			where = " than GitHub shows for one step: run pages validate in the site's folder to see them"
		case omitted == 0:
			where = ", listed in the summary of this job"
		case len(reports) > 1:
			where = fmt.Sprintf(": the first %d of each manifest are listed in the summary of this job", maxReported)
		}
		fmt.Fprintf(&b, "::notice title=pages validate::%s more%s\n", Plural(left+omitted, "problem"), where)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func annotate(b *strings.Builder, file string, d Diagnostic) {
	fmt.Fprintf(b, "::%s file=%s,line=%d,", d.Severity, commandProperty(file), d.Line)
	if d.EndLine > d.Line {
		fmt.Fprintf(b, "endLine=%d,", d.EndLine)
	} else {
		fmt.Fprintf(b, "col=%d,endColumn=%d,", d.Column, d.EndColumn)
	}
	text := d.Message
	if d.Fix != "" {
		text += "\nfix: " + d.Fix
	}
	text = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
	fmt.Fprintf(b, "title=%s::%s\n", commandProperty(d.Code), text)
}

// commandProperty escapes a property of a workflow command.
func commandProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// WriteGitHubSummary writes a Markdown table of every diagnostic in the reports, for the file named by GITHUB_STEP_SUMMARY.
func WriteGitHubSummary(w io.Writer, reports ...Report) error {
	var b strings.Builder
	for _, r := range reports {
		if len(r.Diagnostics) == 0 {
			fmt.Fprintf(&b, "`%s` is valid\n\n", markdownCode(r.File))
			continue
		}
		b.WriteString("| | where | problem | fix |\n| --- | --- | --- | --- |\n")
		for _, d := range r.Diagnostics {
			fmt.Fprintf(&b, "| %s | `%s:%d:%d` | %s (`%s`) | %s |\n", d.Severity, markdownCode(r.file(d)), d.Line, d.Column,
				markdownText(d.Message), markdownCode(d.Code), markdownText(d.Fix))
		}
		if r.Omitted > 0 {
			fmt.Fprintf(&b, "\nand %s more\n", Plural(r.Omitted, "problem"))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownCode makes text safe inside a code span of a table.
func markdownCode(s string) string {
	return strings.NewReplacer("`", "'", "|", `\|`, "\n", " ", "\r", " ").Replace(s)
}

// markdownText makes text safe inside a cell of a table: no markup, no link, no mention.
func markdownText(s string) string {
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ", "\r", " ", "@", "&#64;").Replace(s)
	var b strings.Builder
	for _, r := range escaped {
		if strings.ContainsRune("\\`*_{}[]()#+!|~", r) && r != '#' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
