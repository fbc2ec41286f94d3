package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/manual"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// completionTime bounds the wait of a completion for a service.
const completionTime = 500 * time.Millisecond

// completeWith completes to one of the values that list returns for the command with its flags and the environment.
func (c *cli) completeWith(values func(*cobra.Command) []string) completer {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		wasQuiet := c.term.Quiet
		c.term.Quiet = true
		defer func() { c.term.Quiet = wasQuiet }()
		if c.readFlags(cmd.Flags()) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return manual.StartingWith(begun, values(cmd)), cobra.ShellCompDirectiveNoFileComp
	}
}

// firstOf completes the first argument alone.
func (c *cli) firstOf(values func(*cobra.Command) []string) completer {
	asked := c.completeWith(values)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return asked(cmd, args, begun)
	}
}

// remoteOf returns the service that a command would call.
func (c *cli) remoteOf(cmd *cobra.Command) *remoteFlags {
	r := c.newRemote()
	for name, value := range map[string]*string{"base-url": &r.given.BaseURL, "api-key-file": &r.given.KeyFile} {
		if f := cmd.Flags().Lookup(name); f != nil {
			*value = f.Value.String()
		}
	}
	return r
}

// liveTools are the tools of the service, or the known ones if it does not answer.
func (c *cli) liveTools(cmd *cobra.Command) []string {
	s, err := remote.New(c.remoteOf(cmd).options(""))
	if err != nil || !s.IsTrusted() {
		return toolcall.Names()
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	tools, err := s.Tools(ctx)
	if err != nil {
		return toolcall.Names()
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	slices.Sort(names)
	return plainWords(names)
}

// plainWords returns the values that a shell reads as one word each: a value from a service or from a file of the site becomes part of the
// command line.
func plainWords(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !wording.IsPlain(v) })
}

// liveWorkspaces are the workspaces of the key, or else of the link.
func (c *cli) liveWorkspaces(cmd *cobra.Command) []string {
	o := c.remoteOf(cmd).options("")
	s, err := remote.New(o)
	if err != nil {
		return nil
	}
	var known []string
	if s.Link.Workspace != "" {
		known = plainWords([]string{s.Link.Workspace})
	}
	if !s.IsTrusted() || s.AsksPerson() {
		return known
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	if s, err = remote.Open(ctx, o); err != nil {
		return known
	}
	s.Workspace = "" // all of them
	who, err := s.Who(ctx)
	switch {
	case err != nil:
		return known
	case len(who.Workspaces) > 0:
		return plainWords(who.Workspaces)
	case who.Workspace != "":
		return plainWords([]string{who.Workspace})
	}
	return known
}

// liveTables are the tables and views of the database, and those that the manifest names.
func (c *cli) liveTables(cmd *cobra.Command) (names []string) {
	f := &dbFlags{}
	if p := cmd.Flags().Lookup("project"); p != nil {
		f.project = p.Value.String() == "true"
		f.projectState = cmd.Flags().Lookup("project-state").Value.String()
	}
	if _, m, ok := c.currentSite(); ok && m.Bindings.Database != nil && !f.project {
		names = append(names, m.Bindings.Database.Tables...)
	}
	db, err := c.openDatabase(cmd.Context(), f, d1.ConsoleOptions{ReadOnly: true, Unbounded: true})
	if err != nil {
		return names
	}
	defer db.Close()
	const query = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'"
	rows, err := db.Pool.QueryContext(cmd.Context(), query)
	if err != nil {
		return names
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if rows.Scan(&name) == nil {
			names = append(names, name)
		}
	}
	if rows.Err() != nil {
		return names
	}
	slices.Sort(names)
	return slices.Compact(names)
}
