package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
)

func (c *cli) newUploads() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "uploads [DIR]",
		Short: "List the uploads of the site that no deploy has finished",
		Long: "List the uploads of the site that no deploy has finished, of everybody: the one that\nwas idle for longest first. Ten may be open; one more takes the place of the first\nthat nobody sends to.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages revisions uploads\n  pages revisions uploads end upl_…",
		Args:    cobra.MaximumNArgs(1),
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
				return fmt.Sprintf("%s  %6d files  %9s  %s, by %s", wording.Printable(u.UploadID), u.Files, wording.Size(u.Bytes), state, wording.Printable(u.By))
			})
			if err == nil && !c.term.JSON && len(list.Uploads) == 0 {
				c.term.Progress("no upload is under way")
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
		Use:     "end ID",
		Short:   "End an upload that no deploy has finished",
		Long:    "End an upload that no deploy has finished: your own, or anybody's of a site that you\nmay publish. A deploy that is still sending to it begins anew.\n\nExit codes: 0 done, 1 there is no such upload, 2 wrong usage, " + remoteExit,
		Example: "  pages revisions uploads end upl_…",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			if err := s.Client.EndUpload(cmd.Context(), args[0]); err != nil {
				return unknownUpload(remote.Error(err))
			}
			if c.term.JSON {
				c.term.PrintJSON(endedDoc{true, args[0]})
				return nil
			}
			c.term.Progress("the upload %s is ended", args[0])
			return nil
		},
	}
	r.add(cmd)
	return cmd
}

// unknownUpload gives a refusal to end an upload its remedy.
func unknownUpload(err error) error {
	if f, ok := errors.AsType[*failure.Error](err); ok && (f.Code == toolapi.CodeUploadNotFound || f.Code == toolapi.CodeUploadExpired) {
		f.Message, f.Fix = "there is no such upload, or it is not yours to end", "pages revisions uploads lists those of the site"
	}
	return err
}

// endedDoc is what `pages revisions uploads end --json` prints.
type endedDoc struct {
	OK bool   `json:"ok"`
	ID string `json:"id"`
}
