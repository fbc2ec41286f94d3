package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devcommand"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// checkFrontend checks the flags and the command that name the dev server of a framework.
func (f *devFlags) checkFrontend(cmd *cobra.Command) error {
	o := f.Frontend
	switch {
	case cmd.ArgsLenAtDash() >= 0 && len(o.Command) == 0:
		return failure.Usage("which command? pages dev -- COMMAND")
	case len(o.Command) > 0 && o.URL != "":
		return failure.Usage("--upstream and a command after -- both name a dev server; pass one of them")
	case o.Port != 0 && len(o.Command) == 0:
		return failure.Usage("--upstream-port needs a command: pages dev --upstream-port PORT -- COMMAND")
	case o.Port < 0 || o.Port > 65535:
		return failure.Usage("--upstream-port is %d; ports go from 1 to 65535", o.Port)
	case o.URL == "":
		return nil
	}
	if _, err := devcommand.ParseURL(o.URL); err != nil {
		return failure.Usage("--upstream is %q: %s", o.URL, err)
	}
	return nil
}

// loadDev finds the site and its manifest; the first build prints warnings. If the site's framework has not built it, its dev server may
// answer instead.
func (c *cli) loadDev(ctx context.Context, args []string, f *devFlags) (string, *manifest.Manifest, error) {
	if len(f.Frontend.Command) > 0 || f.Frontend.URL != "" {
		return c.sites().LoadToServe(args)
	}
	dir, m, err := c.sites().LoadValid(args)
	refused, ok := errors.AsType[*failure.RefusedError](err)
	if !ok || !isUnbuilt(refused.Report) {
		return dir, m, err
	}
	found, findErr := c.sites().Find(args)
	server, ok := starter.FindDevServer(userfile.RegularFS{FS: os.DirFS(found)})
	if findErr != nil || !ok {
		return dir, m, err
	}
	command := packager.Of(found).Run(server.Script)
	line := "pages dev -- " + command
	if len(args) > 0 {
		line = "pages dev " + args[0] + " -- " + command
	}
	unbuilt := &failure.Error{
		Exit: failure.ExitRefused, Code: "not-built",
		Message: fmt.Sprintf("the site is not built yet: %s", refused.Report.Diagnostics[0].Message),
		Fix:     fmt.Sprintf("%s starts the dev server of %s; or build the site first", line, server.Framework),
	}
	if !c.term.Interactive() {
		return dir, m, unbuilt
	}
	yes, askErr := c.term.Agree(ctx, fmt.Sprintf("The site is not built yet. Start the dev server of %s with %q (%s)?",
		server.Framework, command, server.Text))
	if askErr != nil {
		return dir, m, askErr
	}
	if !yes {
		return dir, m, unbuilt
	}
	f.Frontend.Command = []string{string(packager.Of(found)), "run", server.Script}
	return c.sites().LoadToServe(args)
}

// isUnbuilt reports whether a site lacks only files or folders that its build makes.
func isUnbuilt(r diagnostic.Report) bool {
	missing := false
	return !slices.ContainsFunc(r.Diagnostics, func(d diagnostic.Diagnostic) bool {
		gone := d.Code == diagnostic.CodePathMissing && (d.Path == "/assets" || d.Path == "/entry")
		missing = missing || gone
		return d.Severity == diagnostic.Error && !gone
	}) && missing
}
