package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/workertypes"
)

func (c *cli) newTypes() *cobra.Command {
	var check bool
	var out string
	cmd := &cobra.Command{
		Use:   "types [DIR]",
		Short: "Write the TypeScript types of the Worker's environment",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			stdout, err := c.term.ToStdout(out, check)
			if err != nil {
				return err
			}
			dir, m, err := c.sites().LoadValid(args)
			if err != nil {
				return err
			}
			if stdout {
				_, err := c.term.Stdout.Write(workertypes.Declare(m))
				return err
			}
			path := filepath.Join(dir, workertypes.FileName)
			if out != "" {
				path = c.term.Path(out)
			}
			return c.writeTypes(path, m, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and fail when the file is not up to date")
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write; - is stdout (default: "+workertypes.FileName+" beside the manifest)")
	return cmd
}

// writeTypes writes the types to a file or, with check, compares them with it.
func (c *cli) writeTypes(path string, m *manifest.Manifest, check bool) error {
	text := workertypes.Declare(m)
	anew := "run pages types and commit the file"
	if filepath.Base(path) != workertypes.FileName {
		anew = "run pages types --output " + wording.ShellWord(c.term.Shown(path)) + " and commit the file"
	}
	refuse := func(code, message, fix string) error {
		return &failure.Error{Exit: failure.ExitRefused, Code: code, Message: message, Fix: fix}
	}
	shown, quoted := c.term.Shown(path), wording.QuotePath(c.term.Shown(path))
	there, err := userfile.ReadRegular(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return &failure.Error{
			Exit: failure.ExitResource, Code: "output-unusable", Message: quoted + " cannot be read: " + failure.Reason(err), Err: err,
		}
	case !missing && !workertypes.Own(there):
		return refuse("types-not-ours", quoted+" was not written by pages types", "move it away, or write another file with --output")
	case !missing && workertypes.Same(there, text):
		return c.printTypes(shown, false)
	case check && missing:
		return refuse("types-missing", "there is no "+quoted, anew)
	case check:
		return refuse("types-differ", quoted+" is out of date", anew)
	}
	if err := userfile.ReplaceText(path, 0o644, text); err != nil {
		return failure.Resource("output-unusable", quoted+" cannot be written", "name a writable file with --output", err)
	}
	return c.printTypes(shown, true)
}

// typesDoc is the output of `pages types --json`.
type typesDoc struct {
	OK    bool   `json:"ok"`
	Path  string `json:"path"`
	Wrote bool   `json:"wrote"` // false when it was up to date
}

func (c *cli) printTypes(path string, wrote bool) error {
	if c.term.JSON {
		c.term.PrintJSON(typesDoc{true, filepath.ToSlash(path), wrote})
		return nil
	}
	if wrote {
		fmt.Fprintln(c.term.Stdout, path)
		return nil
	}
	c.term.Progress("%s is up to date", path)
	return nil
}
