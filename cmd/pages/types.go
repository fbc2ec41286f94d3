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
		Long: "Write the TypeScript types of the Worker's environment to " + workertypes.FileName + ", which is\nmeant to be committed: Env with every binding and secret, the modules a Worker\ncan import, the signed-in member, the forms. " +
			"The manifest alone decides what it\nsays.\n\n" +
			"Where tsconfig.json has \"types\": [\"@cloudflare/workers-types\"] and no \"webworker\" in\n\"lib\", the types of that package count, of the bindings too; it has ExportedHandler,\nHTMLRewriter and WebSocketPair. Without it, Request and Response come from\n\"lib\": [\"webworker\"].\n\n" +
			"Exit codes: 0 written, or up to date; 1 the manifest was refused, or --check\nfound another text; 2 wrong usage, 9 the file cannot be written.",
		Example: "  pages types\n  pages types --check\n  pages types -o src/env.d.ts",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			stdout, err := c.term.ToStdout(out, check)
			if err != nil {
				return err
			}
			dir, err := c.sites().Find(args)
			if err != nil {
				return err
			}
			m, found := c.sites().Load(dir) // of warnings, validate tells
			if m == nil {
				return &failure.RefusedError{Report: found.Report, Source: found.Source}
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

func (c *cli) writeTypes(path string, m *manifest.Manifest, check bool) error {
	text := workertypes.Declare(m)
	anew := "run pages types and commit the file"
	if filepath.Base(path) != workertypes.FileName {
		anew = "run pages types --output " + wording.ShellWord(c.term.Shown(path)) + " and commit the file"
	}
	shown := c.term.Shown(path)
	there, err := userfile.ReadRegular(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return &failure.Error{Exit: failure.ExitResource, Code: "output-unusable", Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(shown), failure.Reason(err)), Err: err}
	case !missing && !workertypes.Own(there):
		return &failure.Error{Exit: failure.ExitRefused, Code: "types-not-ours", Message: fmt.Sprintf("%s was not written by pages types", wording.QuotePath(shown)), Fix: "move it away, or write another file with --output"}
	case !missing && workertypes.Same(there, text):
		return c.printTypes(shown, false)
	case check && missing:
		return &failure.Error{Exit: failure.ExitRefused, Code: "types-missing", Message: fmt.Sprintf("there is no %s", wording.QuotePath(shown)), Fix: anew}
	case check:
		return &failure.Error{Exit: failure.ExitRefused, Code: "types-differ", Message: fmt.Sprintf("%s is not what the manifest says", wording.QuotePath(shown)), Fix: anew}
	}
	if err := userfile.ReplaceText(path, 0o644, text); err != nil {
		return failure.Resource("output-unusable", fmt.Sprintf("%s cannot be written", wording.QuotePath(shown)), "name a file that you may write with --output", err)
	}
	return c.printTypes(shown, true)
}

// typesDoc is what `pages types --json` prints.
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
