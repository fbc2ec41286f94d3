package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// leadFilesDoc is what `pages leads files --json` prints.
type leadFilesDoc struct {
	OK    bool        `json:"ok"`
	Lead  string      `json:"lead"`  // its id
	Files []savedFile `json:"files"` // in the order they came
}

// savedFile is a file of a lead.
type savedFile struct {
	site.LeadFile

	Saved string `json:"saved,omitempty"` // where
}

func (c *cli) newLeadsFiles() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "files ID [DIR]",
		Short: "The files that a visitor sent with a form",
		Long: "List the files that a visitor sent with a form, and with --out save them in a\nfolder. Each gets its number in front of its name, so that none is hidden or takes\nthe place of another.\n\n" +
			"What a stranger sends is not to be trusted: a file is what its bytes are, whatever\nits name and its type say.\n\nExit codes: 0 done, 1 there is no such lead or a file cannot be saved, 2 wrong\nusage, 9 the state folder cannot be used.",
		Example: "  pages leads files lead_4kx2…\n  pages leads files lead_4kx2… --out applications",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			doc := leadFilesDoc{OK: true, Lead: args[0]}
			err := c.withStore(cmd.Context(), args[1:], func(ctx context.Context, st *localstate.State, s *site.Store) (err error) {
				if _, err = findLead(ctx, s, args[0]); err == nil {
					doc.Files, err = c.filesOf(ctx, st, s, args[0], out)
				}
				return err
			})
			if err == nil && doc.Files == nil { // there is no store
				err = notFound("lead", args[0])
			}
			if err == nil {
				c.printLeadFiles(doc)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "save them in this `folder`, which is made if it is not there")
	return cmd
}

func (c *cli) printLeadFiles(doc leadFilesDoc) {
	if c.term.JSON {
		c.term.PrintJSON(doc)
		return
	}
	for _, f := range doc.Files {
		where := ""
		if f.Saved != "" {
			where = "  -> " + wording.Printable(f.Saved)
		}
		fmt.Fprintf(c.term.Stdout, "%s: %q  %s  %s%s\n", wording.Printable(f.Field), f.Filename, wording.Printable(f.ContentType), wording.Size(f.Size), where)
	}
	if len(doc.Files) == 0 {
		c.term.Progress("the lead has no files")
	}
}

// filesOf lists the files of a lead, and saves them where a folder is given.
func (c *cli) filesOf(ctx context.Context, st *localstate.State, s *site.Store, lead, out string) (all []savedFile, err error) {
	files, err := s.LeadFiles(ctx, lead)
	if err != nil {
		return nil, err
	}
	all = []savedFile{}
	for _, f := range files {
		all = append(all, savedFile{LeadFile: f})
	}
	if out == "" || len(files) == 0 {
		return all, nil
	}
	out = c.term.Path(out)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, notSaved(err)
	}
	to, err := os.OpenRoot(out)
	if err != nil {
		return nil, notSaved(err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	uploads, shut, err := readUploads(ctx, st)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shut()) }()
	for i := range all {
		name := fmt.Sprintf("%d-%s", i+1, plainName(all[i].Filename))
		if err := save(ctx, all[i].LeadFile, uploads, to, name); err != nil {
			return nil, notSaved(err)
		}
		all[i].Saved = filepath.Join(out, name)
	}
	return all, nil
}

func notSaved(err error) error {
	return &failure.Error{Exit: failure.ExitRefused, Code: "file-not-saved", Message: "a file of the lead cannot be saved", Fix: "give a folder that you may write to and that does not have it yet", Err: err}
}

// plainName is a name without the characters that a file system or a shell reads as
// something else.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*$`+"`", r) {
			return '_'
		}
		return r
	}, name)
}

// save writes a file that is not there yet.
func save(ctx context.Context, f site.LeadFile, from site.Files, to *os.Root, name string) error {
	body, err := f.Open(ctx, from)
	if err != nil {
		return err
	}
	defer body.Close()
	file, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	return errors.Join(err, file.Close())
}

// readUploads opens what visitors sent with forms, beside a dev server that may run.
func readUploads(ctx context.Context, s *localstate.State) (files site.Files, shut func() error, err error) {
	dir := filepath.Join(s.Dir, statefolder.UploadsFolder)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, s.OpenError(statefolder.UploadsFolder, err)
	}
	db, err := s.OpenToRead(ctx, filepath.Join(statefolder.UploadsFolder, statefolder.IndexFile))
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	bucket := r2.OpenReadOnly(db, root)
	return localstate.NewFormFiles(func(context.Context) (*r2.Bucket, error) { return bucket, nil }),
		func() error { return errors.Join(db.Close(), root.Close()) }, nil
}
