package remote

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// PrintDetail prints for people what a service said beside a failure's message. A terminal obeys none of it.
func PrintDetail(t *terminal.Terminal, f *failure.Error) {
	if f.Detail == nil {
		return
	}
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(t.Stderr, "  %s %s\n", t.Paint("36", label), wording.Printable(text))
		}
	}
	line("code:", f.Code)
	line("tool:", f.Detail.Tool)
	if f.Detail.Status >= http.StatusBadRequest {
		line("status:", fmt.Sprintf("HTTP %d", f.Detail.Status))
	}
	line("at:", f.Detail.Path)
	for _, issue := range f.Detail.Issues {
		line("issue:", strings.TrimSpace(issue.Path+" "+issue.Message))
	}
	for _, slug := range f.Detail.Workspaces {
		line("workspace:", slug)
	}
	for _, s := range f.Detail.Sites {
		line("site:", fmt.Sprintf("%s  %s  %s", s.SiteID, s.Hostname, s.Name))
	}
	line("next:", f.Detail.Instruction)
	line("request:", f.Detail.RequestID)
}
