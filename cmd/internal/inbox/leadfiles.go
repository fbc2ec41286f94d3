package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// LeadFiles is the document of `pages leads files --json`.
type LeadFiles struct {
	OK    bool       `json:"ok"`
	Lead  string     `json:"lead"`  // its id
	Files []LeadFile `json:"files"` // in the order of their arrival
}

// LeadFile is a file of a form.
type LeadFile struct {
	site.LeadFile

	Saved string `json:"saved,omitempty"` // where
}

// Files lists the files of a lead, and saves them in the folder out unless it is "".
func (b Inbox) Files(ctx context.Context, lead, out string) (LeadFiles, error) {
	list := LeadFiles{OK: true, Lead: lead}
	err := b.withLead(ctx, lead, func(s *site.Store) (err error) {
		if _, err = findLead(ctx, s, lead); err == nil {
			list.Files, err = b.files(ctx, s, lead, out)
		}
		return err
	})
	return list, err
}

func (b Inbox) files(ctx context.Context, s *site.Store, lead, out string) (all []LeadFile, err error) {
	files, err := s.LeadFiles(ctx, lead)
	if err != nil {
		return nil, err
	}
	all = []LeadFile{}
	for _, f := range files {
		all = append(all, LeadFile{LeadFile: f})
	}
	if out == "" || len(files) == 0 {
		return all, nil
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, notSaved(err)
	}
	to, err := os.OpenRoot(out)
	if err != nil {
		return nil, notSaved(err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	uploads, closeUploads, err := openUploads(ctx, b.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeUploads()) }()
	for i := range all {
		plain := strings.Map(func(r rune) rune {
			if strings.ContainsRune(`<>:"|?*$`+"`", r) { // file systems and shells may interpret it
				return '_'
			}
			return r
		}, all[i].Filename)
		name := fmt.Sprintf("%d-%s", i+1, plain)
		if err := saveFile(ctx, all[i].LeadFile, uploads, to, name); err != nil {
			return nil, notSaved(err)
		}
		all[i].Saved = filepath.Join(out, name)
	}
	return all, nil
}

func notSaved(err error) error {
	return &failure.Error{
		Exit: failure.ExitRefused, Code: "file-not-saved", Message: "a file of the lead cannot be saved",
		Fix: "pass a writable folder that does not have the file yet", Err: err,
	}
}

// saveFile writes a file that must not exist yet.
func saveFile(ctx context.Context, f site.LeadFile, from site.Files, to *os.Root, name string) error {
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

// openUploads opens the files of forms, even while a dev server runs.
func openUploads(ctx context.Context, s *localstate.State) (files site.Files, closeAll func() error, err error) {
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
