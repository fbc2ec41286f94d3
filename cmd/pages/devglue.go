package main

import (
	"slices"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/runtime/web"
)

// webOptions is what the Worker's fetch may reach.
func (b *siteBuilder) webOptions(m *manifest.Manifest) web.Options {
	return web.Options{
		AllowFetch:     b.flags.allowFetch,
		Self:           b.front,
		IsSelf:         b.isSelf,
		StrictlyPublic: slices.Contains(m.Runtime.CompatibilityFlags, manifest.FlagStrictlyPublic),
		Caches:         b.caches,
		Now:            b.now,
		Logger:         b.console.logger(),
	}
}

// isSelf reports whether host:port is this dev server.
func (b *siteBuilder) isSelf(host string) bool {
	u := b.sockets
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		if host == hostPort(name, u.Port) {
			return true
		}
	}
	return false
}

// problems are diagnostics in the terms of the dev server's pages.
func (b *siteBuilder) problems(diags manifest.Diagnostics, title string) []devserver.Problem {
	var list []devserver.Problem
	for _, d := range diags {
		title := title
		if d.Severity == manifest.Warning {
			title = "Worth a look"
		}
		p := devserver.Problem{
			Kind: d.Code, Title: title, Message: d.Message, Fix: d.Fix,
			File: d.File, Line: d.Line, Column: d.Column,
		}
		if p.File == "" {
			p.File = manifest.FileName
		}
		if d.EndLine == d.Line {
			p.EndColumn = d.EndColumn
		}
		lines := snippet(b.dir, p.File, p.Line)
		if lines == nil && d.Source != "" && d.SourceColumn <= 1 { // of a file outside the site, as in a workspace of packages
			lines = []devserver.SnippetLine{{Number: p.Line, Text: d.Source, Hit: true}}
		}
		p.Snippet = devserver.FitSnippet(lines, p.Column)
		list = append(list, p)
	}
	return list
}
