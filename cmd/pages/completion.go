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
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

// complete gives the commands below root their completions: the values of flags and arguments, from the site at hand, its databases or the
// service. A completion changes nothing, gives up soon, and offers fewer values instead of failing.
func (c *cli) complete(root *cobra.Command) {
	arguments := map[string]func() []string{
		"routes explain": c.routePaths, "state load": c.snapshotNames, "state remove": c.snapshotNames,
	}
	for _, path := range []string{"leads show", "version", "whoami", "login", "logout", "platform", "platform openapi"} {
		arguments[path] = values()
	}
	for path, known := range arguments {
		if cmd := manual.FindCommand(root, strings.Fields(path)); cmd != nil && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = oneOf(known)
		}
	}
	for _, path := range []string{"call", "tools describe"} {
		manual.FindCommand(root, strings.Fields(path)).ValidArgsFunction = c.firstOf(c.liveTools)
	}
	flags := map[string]completer{"workspace": c.completeWith(c.liveWorkspaces), "table": c.completeWith(c.liveTables)}
	for name, known := range map[string]func() []string{
		"as":          c.personaKeys,
		"color":       values("auto", "always", "never"),
		"editor":      values(append(scaffold.EditorNames(), "none")...),
		"engine":      values(engineNames()...),
		"fail-on":     values("error", "warning"),
		"form":        c.formNames,
		"isolation":   values("shared", "request"),
		"limits":      values("enforce", "warn", "off"),
		"live-reload": values("hot", "full", "off"),
		"role":        values("owner", "editor", "viewer"),
		"seed":        values("demo"),
		"snapshot":    c.snapshotNames,
		"target":      values("pages", "cloudflare"),
		"template":    scaffold.TemplateNames,
	} {
		flags[name] = oneOf(known)
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for name, known := range flags {
			if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() != "bool" || cmd.PersistentFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, known) // fails only if there is one already
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

// completer is cobra's type of a completion.
type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// oneOf completes to one of the values.
func oneOf(values func() []string) completer {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return manual.StartingWith(begun, values()), cobra.ShellCompDirectiveNoFileComp
	}
}

// folders completes a folder. After the beginning of a subcommand's name, shells must not look for folders only: they would complete inside
// a folder of that name.
func folders(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	for _, sub := range cmd.Commands() {
		if len(args) == 0 && sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func values(list ...string) func() []string { return func() []string { return list } }

// currentSite returns the site of the command line and its manifest; ok is false without one.
func (c *cli) currentSite() (dir string, m *manifest.Manifest, ok bool) {
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
	if _, m, ok := c.currentSite(); ok {
		for _, r := range m.Routes {
			paths = append(paths, strings.TrimSuffix(r.Pattern, "*"))
		}
	}
	return paths
}

func (c *cli) formNames() (names []string) {
	if _, m, ok := c.currentSite(); ok {
		for _, f := range m.Forms {
			names = append(names, f.Name)
		}
	}
	return names
}

func (c *cli) personaKeys() []string {
	dir, _, _ := c.currentSite()
	return project.PersonaKeys(dir)
}

func (c *cli) snapshotNames() (names []string) {
	dir, _, ok := c.currentSite()
	if !ok {
		return nil
	}
	s, err := c.states().State(dir)
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(s.Dir, snapshot.Folder)) // none without the folder
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}
