package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newRevisions() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "revisions [DIR]",
		Short: "List the revisions of the site, and which one is live",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			list, err := client.Run(cmd.Context(), s.Client, s.Contract.Revisions, toolapi.SiteArgs{
				SiteID: toolapi.UUID(s.Site), Scope: s.Scope(),
			})
			err = printList(c, remote.Error(err), list, list.Revisions, func(v toolapi.RevisionSummary) string {
				name, size := wording.Printable(v.Revision), wording.Size(v.Bytes)
				return fmt.Sprintf("%-20s %s  %6d files  %9s  %s", name, shortTime(v.CreatedAt), v.Files, size, revisionState(v))
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

// revisionState describes the use of a revision.
func revisionState(v toolapi.RevisionSummary) string {
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

// shortTime formats a time of a response for people; it returns any other text unchanged.
func shortTime(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return wording.Printable(text)
	}
	return wording.Clock(t)
}

func (c *cli) newUploads() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "uploads [DIR]",
		Short: "List the unfinished uploads of the site",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			list, err := s.Client.Uploads(cmd.Context(), s.Workspace, s.Site)
			err = printList(c, remote.Error(err), list, list.Uploads, func(u toolapi.OpenUpload) string {
				state := "used " + shortTime(u.UsedAt)
				if u.Sending {
					state = "is being sent"
				}
				id, by := wording.Printable(u.UploadID), wording.Printable(u.By)
				return fmt.Sprintf("%s  %6d files  %9s  %s, by %s", id, u.Files, wording.Size(u.Bytes), state, by)
			})
			if err == nil && !c.term.JSON && len(list.Uploads) == 0 {
				c.term.Progress("there is no unfinished upload")
			}
			return err
		},
	}
	r.addSite(cmd)
	cmd.AddCommand(c.newUploadsEnd())
	return cmd
}

func (c *cli) newUploadsEnd() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "end ID",
		Short: "End an unfinished upload",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			if err := s.Client.EndUpload(cmd.Context(), args[0]); err != nil {
				err = remote.Error(err)
				f, ok := errors.AsType[*failure.Error](err)
				if ok && (f.Code == toolapi.CodeUploadNotFound || f.Code == toolapi.CodeUploadExpired) {
					f.Message = "there is no such upload, or it is not yours to end"
					f.Fix = "pages revisions uploads lists those of the site"
				}
				return err
			}
			return c.report(endedDoc{true, args[0]}, "ended the upload %s", args[0])
		},
	}
	r.add(cmd)
	return cmd
}

// endedDoc is the output of `pages revisions uploads end --json`.
type endedDoc struct {
	OK bool   `json:"ok"`
	ID string `json:"id"`
}

func (c *cli) newRollback() *cobra.Command {
	r := c.newRemote()
	var proposeOnly, force bool
	var allowed toolapi.TableNames
	cmd := &cobra.Command{
		Use:   "rollback [REVISION [DIR]]",
		Short: "Serve an earlier revision again",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			revision, dir := first(args)
			s, err := r.openSite(cmd.Context(), dir)
			if err != nil {
				return err
			}
			p := r.proposer(s, proposeOnly)
			p.Command = "pages rollback"
			if revision != "" {
				p.Command += " " + wording.ShellWord(revision)
			}
			return p.Propose(cmd.Context(), s.Contract.Rollback.Name, toolapi.RollbackArgs{
				SiteID: toolapi.UUID(s.Site), Revision: toolapi.Name(revision), Force: force, AllowDataLoss: allowed, Scope: s.Scope(),
			})
		},
	}
	r.addSite(cmd)
	addProposeOnly(cmd, &proposeOnly)
	addAllowLoss(cmd, &allowed)
	cmd.Flags().BoolVar(&force, "force", false, "even if the site's database has migrations that the revision lacks")
	return cmd
}
