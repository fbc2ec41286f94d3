package publish

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// maxSummary is how much GitHub takes of a step's summary, with room for what others write.
const maxSummary = 256 << 10

// summarize adds the plan and the result to the summary of a step of GitHub Actions.
func (d *deployment) summarize(err error) {
	file, _ := d.session.Term.Lookup("GITHUB_STEP_SUMMARY")
	if file == "" || d.planned == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### pages deploy: %s\n\n", markdown(d.page.Name))
	if f, ok := errors.AsType[*failure.Error](err); ok {
		d.outcome = f.Message
		if f.Code == CodeOutstanding {
			d.outcome = fmt.Sprintf(
				"Proposed: %s A member confirms it with:\n\n```sh\n%s\n# or elsewhere\n%s\n```\n",
				markdown(f.Detail.Summary),
				f.Detail.Confirm,
				f.Detail.Elsewhere,
			)
		}
	}
	if d.proposal == nil || err == nil {
		d.outcome = markdown(d.outcome)
	}
	fmt.Fprintf(&b, "%s\n\n<details><summary>Plan</summary>\n\n````text\n", d.outcome)
	for _, line := range planLines(d.planned, true) {
		if b.Len() > maxSummary {
			b.WriteString("…\n")
			break
		}
		b.WriteString(strings.ReplaceAll(line.text, "````", "```'") + "\n")
	}
	b.WriteString("````\n\n</details>\n\n")
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = out.WriteString(b.String())
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		d.session.Term.Progress("%s the step's summary cannot be written: %s", d.session.Term.Paint("33", "note:"), failure.Reason(err))
	}
}

// markdown keeps a text from being read as Markdown or HTML.
func markdown(text string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
		"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "#", "\\#",
	).Replace(text)
}
