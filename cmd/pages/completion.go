package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/manual"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/scaffold"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

// This file says what a shell completes: what a flag or an argument can be, also
// where only the site at hand, its databases or the service know. It changes nothing,
// waits for nobody for long, and offers less rather than fail.

// complete gives the commands below root their completions.
func (c *cli) complete(root *cobra.Command) {
	for path, known := range map[string]func() []string{
		"routes explain":   c.routePaths,
		"state load":       c.snapshotNames,
		"state remove":     c.snapshotNames,
		"leads show":       none,
		"version":          none,
		"whoami":           none,
		"login":            none,
		"logout":           none,
		"platform":         none,
		"platform openapi": none,
	} {
		if cmd := manual.FindCommand(root, strings.Fields(path)); cmd != nil && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = oneOf(known)
		}
	}
	for _, path := range []string{"call", "tools describe"} {
		manual.FindCommand(root, strings.Fields(path)).ValidArgsFunction = c.firstOf(c.liveTools)
	}
	flags := map[string]completer{"workspace": c.asked(c.liveWorkspaces), "table": c.asked(c.liveTables)}
	for name, known := range map[string]func() []string{
		"color": values("auto", "always", "never"), "limits": values("enforce", "warn", "off"), "isolation": values("shared", "request"),
		"live-reload": values("hot", "full", "off"), "template": scaffold.TemplateNames, "target": values("pages", "cloudflare"), "seed": values("demo"),
		"as": c.personaKeys, "editor": func() []string { return append(scaffold.EditorNames(), "none") }, "snapshot": c.snapshotNames, "form": c.formNames,
		"fail-on": values("error", "warning"), "role": values("owner", "editor", "viewer"),
	} {
		flags[name] = oneOf(known)
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for name, known := range flags {
			if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() != "bool" || cmd.PersistentFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, known) // fails only where there is one already
			}
		}
		if cmd.ValidArgsFunction == nil && strings.Contains(cmd.Use, "[DIR]") {
			cmd.ValidArgsFunction = folders
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// completer is how cobra asks.
type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// oneOf completes one of the values.
func oneOf(values func() []string) completer {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return manual.StartingWith(begun, values()), cobra.ShellCompDirectiveNoFileComp
	}
}

// folders completes a folder. Where the name of a command below has begun, shells are not told to look for folders
// only: they would take that name for the one to look in.
func folders(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	for _, sub := range cmd.Commands() {
		if len(args) == 0 && sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func values(list ...string) func() []string { return func() []string { return list } }

func none() []string { return nil }

// here is the site at hand and its manifest; ok is false without one.
func (c *cli) here() (dir string, m *manifest.Manifest, ok bool) {
	dir, err := c.sites().Find(nil)
	if err != nil {
		return "", nil, false
	}
	src, err := userfile.ReadSource(filepath.Join(dir, manifest.FileName))
	if err != nil {
		return dir, nil, false
	}
	m, _ = manifest.Parse(manifest.FileName, src)
	return dir, m, m != nil
}

// routePaths are the patterns of the site, each as a path that it covers.
func (c *cli) routePaths() (paths []string) {
	_, m, ok := c.here()
	if !ok {
		return nil
	}
	for _, r := range m.Routes {
		paths = append(paths, strings.TrimSuffix(r.Pattern, "*"))
	}
	return paths
}

func (c *cli) formNames() (names []string) {
	_, m, ok := c.here()
	if !ok {
		return nil
	}
	for _, f := range m.Forms {
		names = append(names, f.Name)
	}
	return names
}

func (c *cli) personaKeys() (keys []string) {
	dir, _, _ := c.here()
	list, fault := project.ReadPersonas(dir)
	if fault != nil {
		list = site.DefaultPersonas()
	}
	for _, p := range list {
		keys = append(keys, p.Key)
	}
	return keys
}

func (c *cli) snapshotNames() (names []string) {
	dir, _, ok := c.here()
	if !ok {
		return nil
	}
	s, err := c.states().State(dir)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(s.Dir, snapshot.Folder))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}
