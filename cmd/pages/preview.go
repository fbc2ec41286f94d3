package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/pullrequest"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
)

// namedPreviewFlags are the flags of `pages deploy` for a preview with a name.
type namedPreviewFlags struct {
	name, data, ttl string
	fresh, comment  bool
}

func (f *namedPreviewFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "with --preview: show it under a `name`, such as the branch, at an address that stays")
	flags.StringVar(&f.data, "data", "", "the data that --name starts with: `copy` of the live data (default), empty, or seed (seed.sql)")
	flags.StringVar(&f.ttl, "ttl", "", "`duration` for which --name is valid after each deploy, such as 14d (default) or 12h, at most 90d")
	flags.BoolVar(&f.fresh, "fresh", false, "start the data of --name again")
	addComment(cmd, &f.comment, "with --name: keep a comment on the pull request up to date (GitHub Actions, GITHUB_TOKEN)")
}

func addComment(cmd *cobra.Command, comment *bool, about string) {
	cmd.Flags().BoolVar(comment, "comment", false, about)
}

// options returns the options of the preview; the zero value for a preview without a name.
func (f *namedPreviewFlags) options(c *cli, preview bool, expires time.Duration) (o publish.PreviewOptions, err error) {
	switch {
	case c.typed["name"] && strings.TrimSpace(f.name) == "":
		return o, failure.Usage("--name is empty; it is the name of the preview, such as the branch")
	case f.name == "" && (f.data != "" || f.ttl != "" || f.fresh || f.comment):
		return o, failure.Usage("--data, --ttl, --fresh and --comment need --preview --name")
	case f.name == "":
		return o, nil
	case !preview:
		return o, failure.Usage("--name needs --preview")
	case expires != 0:
		return o, failure.Usage("--expires is for a link without a name; pass --ttl with --name")
	}
	o = publish.PreviewOptions{Name: f.name, Data: toolapi.PreviewData(f.data), Fresh: f.fresh}
	switch o.Data {
	case "":
		o.Data = toolapi.DataCopy
	case toolapi.DataCopy, toolapi.DataEmpty, toolapi.DataSeed:
	default:
		return o, failure.Usage("--data is %q; it must be copy, empty or seed", f.data)
	}
	if len([]rune(f.name)) > toolapi.MaxPreviewName {
		return o, failure.Usage("--name has %d characters; the maximum is %d", len([]rune(f.name)), toolapi.MaxPreviewName)
	}
	if f.ttl != "" {
		if o.TTL, err = publish.ParseDuration(f.ttl); err != nil ||
			o.TTL < toolapi.MinPreviewTTL*time.Second || o.TTL > toolapi.MaxPreviewTTL*time.Second {
			return o, failure.Usage("--ttl is %q; it must be from 1m to 90d, such as 14d or 12h", f.ttl)
		}
	}
	if f.comment {
		o.Comment, err = pullrequest.FromEnvironment(c.term.Lookup)
	}
	return o, err
}

func (c *cli) newPreview() *cobra.Command {
	r := c.newRemote()
	var expires time.Duration
	cmd := &cobra.Command{
		Use:   "preview [REVISION [DIR]]",
		Short: "Create a link that shows a revision before it is published; list and remove previews",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkExpires(expires); err != nil {
				return err
			}
			revision, dir := first(args)
			s, err := r.openSite(cmd.Context(), dir)
			if err != nil {
				return err
			}
			return publish.Preview(cmd.Context(), s, revision, expires)
		},
	}
	r.addSite(cmd)
	cmd.Flags().DurationVar(&expires, "expires", 0, "`duration` for which the link is valid, from 1m to 168h (default 24h)")
	cmd.AddCommand(c.newPreviewRevoke(), c.newPreviewList(), c.newPreviewRemove())
	return cmd
}

func (c *cli) newPreviewRevoke() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "End a preview link at once",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			if err := s.Client.RevokePreviewLink(cmd.Context(), args[0]); err != nil {
				return remote.Error(err)
			}
			return c.report(revokedDoc{true, args[0]}, "ended the link %s", args[0])
		},
	}
	r.add(cmd)
	return cmd
}

// revokedDoc is the output of `pages preview revoke --json`.
type revokedDoc struct {
	OK bool   `json:"ok"`
	ID string `json:"id"`
}

func (c *cli) newPreviewList() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the previews of the site, with their addresses",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			list, err := s.Client.Previews(cmd.Context(), s.Workspace, s.Site)
			err = printList(c, remote.Error(err), list, list.Previews, func(p toolapi.NamedPreview) string {
				return fmt.Sprintf("%-20s %-20s %-5s  until %s  %s", wording.Printable(p.Name), wording.Printable(p.Revision), p.Data,
					shortTime(p.ExpiresAt), wording.Printable(p.URL))
			})
			if err != nil || c.term.JSON {
				return err
			}
			for _, l := range list.Links {
				fmt.Fprintf(c.term.Stdout, "%-20s %-20s %-5s  until %s  %s\n", "(a link)", wording.Printable(l.Revision), "copy",
					shortTime(l.ExpiresAt), wording.Printable(l.ID))
			}
			c.term.PrintNone(len(list.Previews)+len(list.Links), "previews")
			return nil
		},
	}
	r.addSite(cmd)
	return cmd
}

func (c *cli) newPreviewRemove() *cobra.Command {
	r := c.newRemote()
	var comment, ifExists bool
	cmd := &cobra.Command{
		Use:   "remove NAME [DIR]",
		Short: "Remove a named preview, with its data and its addresses",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var on *pullrequest.PullRequest
			if comment {
				var err error
				if on, err = pullrequest.FromEnvironment(c.term.Lookup); err != nil {
					return err
				}
			}
			s, err := r.openSite(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			err = publish.RemovePreview(cmd.Context(), s, args[0], on)
			if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == publish.CodePreviewUnknown && ifExists {
				return c.report(removedPreviewDoc{true, args[0], false}, "%s", f.Message)
			}
			if err != nil {
				return err
			}
			return c.report(removedPreviewDoc{true, args[0], true}, "removed the preview %q and its data", args[0])
		},
	}
	r.addSite(cmd)
	cmd.Flags().BoolVar(&ifExists, "if-exists", false, "end with 0 when there is no such preview")
	addComment(cmd, &comment, "update the comment on the pull request (GitHub Actions, GITHUB_TOKEN)")
	return cmd
}

// removedPreviewDoc is the output of `pages preview remove --json`.
type removedPreviewDoc struct {
	OK   bool   `json:"ok"`
	Name string `json:"name"`
	Done bool   `json:"removed"` // false if it did not exist, with --if-exists
}
