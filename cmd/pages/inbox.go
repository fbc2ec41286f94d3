package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// This file holds what the commands about leads and events share. Both are read
// from the state folder, whether a dev server runs or not.

const listHelp = "\n\nExit codes: 0 done, 1 there is no site, 2 wrong usage, 9 the state folder cannot\nbe used."

// checkLimit refuses a --limit that is none.
func checkLimit(n int) error {
	if n < 0 {
		return failure.Usage("--limit is %d; it is 0 for all, or more", n)
	}
	return nil
}

// fieldLine is the answers of a form in one line. A terminal obeys none of them.
func fieldLine(fields site.Fields) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, fmt.Sprintf("%s=%q", wording.Printable(f.Name), valueText(f)))
	}
	return strings.Join(parts, " ")
}

// valueText is an answer as text, several with "; " between them; a file is what it is
// called, its type and its size.
func valueText(f site.Field) string {
	var several []json.RawMessage
	if json.Unmarshal(f.Value, &several) != nil {
		several = []json.RawMessage{f.Value}
	}
	var texts []string
	for _, value := range several {
		var file site.File
		if json.Unmarshal(value, &file) != nil || file.SHA256 == "" {
			texts = append(texts, site.Fields{{Name: f.Name, Value: value}}.Text(f.Name))
			continue
		}
		texts = append(texts, strings.Join(slices.DeleteFunc([]string{file.Filename, file.ContentType, wording.Size(file.Size)}, func(s string) bool { return s == "" }), ", "))
	}
	return strings.Join(texts, "; ")
}

// withStore opens the site's platform database for fn. A site without one has
// received nothing, and fn is not called.
func (c *cli) withStore(ctx context.Context, args []string, fn func(context.Context, *localstate.State, *site.Store) error) error {
	dir, err := c.find(args)
	if err != nil {
		return err
	}
	s, err := c.states().State(dir)
	if err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Dir, statefolder.PlatformFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.Lock(); err != nil {
		return err
	}
	db, err := s.Open(ctx, statefolder.PlatformFile)
	if err != nil {
		return err
	}
	store, err := site.OpenStore(ctx, db, site.StoreOptions{Now: c.term.Now})
	if err != nil {
		return errors.Join(s.OpenError(statefolder.PlatformFile, err), s.Close())
	}
	return errors.Join(fn(ctx, s, store), s.Close())
}

// notFound says that nothing has the id that was asked for.
func notFound(what, id string) error {
	return &failure.Error{Exit: failure.ExitRefused, Code: "no-such-" + what, Message: fmt.Sprintf("there is no %s %q", what, id), Fix: "list them: pages " + what + "s list"}
}
