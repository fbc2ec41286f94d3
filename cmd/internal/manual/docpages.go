package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/docsearch"
)

// DocPages returns the pages of help of all commands and topics below root, for a search. A passage is a paragraph, a flag, or the
// examples.
func DocPages(root *cobra.Command) (pages []docsearch.Page) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || strings.HasPrefix(cmd.Name(), "__") {
			return
		}
		pages = append(pages, docPage(cmd))
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return pages
}

// The weights of passages. Flags are short, so that a word counts more in them; examples and exit codes have the words of every page.
const (
	prose  = 1.0
	option = 0.7
	listed = 0.4
)

func docPage(cmd *cobra.Command) docsearch.Page {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	page := docsearch.Page{Title: cmd.CommandPath(), About: cmd.Short, Command: strings.TrimSpace("pages help " + path)}
	if !cmd.Runnable() && !cmd.HasSubCommands() {
		page.Title = "topic " + cmd.Name()
	}
	for paragraph := range strings.SplitSeq(cmd.Long, "\n\n") {
		if text := strings.Trim(paragraph, "\n"); text != "" {
			weight := prose
			if strings.HasPrefix(text, "Exit codes: ") {
				weight = listed
			}
			page.Passages = append(page.Passages, docsearch.Passage{Text: text, Weight: weight})
		}
	}
	if cmd.Example != "" {
		page.Passages = append(page.Passages, docsearch.Passage{Text: "Examples:\n" + cmd.Example, Weight: listed})
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if _, usage := FlagText(f); !f.Hidden && f.Name != "help" {
			text := fmt.Sprintf("%s: %s%s", flagUsage(f), usage, defaultOf(f))
			page.Passages = append(page.Passages, docsearch.Passage{Text: text, Weight: option})
		}
	})
	return page
}
