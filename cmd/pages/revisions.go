package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newRevisions() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "revisions [DIR]",
		Short: "List what was deployed of the site, and what is live",
		Long: "List the revisions of the site, newest first, with what is live, scheduled or shown\nby a preview link.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages revisions\n  pages revisions uploads\n  pages revisions --json | jq -r '.revisions[0].revision'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			list, err := client.Run(cmd.Context(), s.Client, s.Contract.Revisions, toolapi.SiteArgs{SiteID: toolapi.UUID(s.Site), Scope: s.Scope()})
			err = printList(c, remote.Error(err), list, list.Revisions, func(v toolapi.RevisionSummary) string {
				return fmt.Sprintf("%-20s %s  %6d files  %9s  %s", wording.Printable(v.Revision), shortTime(v.CreatedAt), v.Files, wording.Size(v.Bytes), standing(v))
			})
			if err == nil && !c.term.JSON {
				c.term.PrintNone(len(list.Revisions), "revisions")
			}
			return err
		},
	}
	r.addSite(cmd)
	cmd.AddCommand(c.newUploads())
	return cmd
}

// standing says what a revision is used for.
func standing(v toolapi.RevisionSummary) string {
	var words []string
	if v.Live {
		words = append(words, "published")
	}
	if v.Scheduled {
		words = append(words, "scheduled")
	}
	if v.Previewed {
		words = append(words, "previewed")
	}
	if len(words) == 0 && v.PublishedAt != nil {
		return "was published " + shortTime(*v.PublishedAt)
	}
	return strings.Join(words, ", ")
}

// shortTime is a time of an answer for people; what is none stays as it is.
func shortTime(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return wording.Printable(text)
	}
	return wording.Clock(t)
}
