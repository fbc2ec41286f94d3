package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
)

// This file is how commands speak: to people on stderr, to programs in JSON on stdout.

// terminal is what a report that goes to w is written on.
func (c *cli) terminal(w io.Writer) manifest.Terminal {
	return manifest.Terminal{Color: c.colored(w), Columns: columns(w)}
}

// colored reports whether what goes to w is coloured.
func (c *cli) colored(w io.Writer) bool {
	switch c.color {
	case "always":
		return true
	case "never":
		return false
	}
	if v, ok := c.lookup("NO_COLOR"); ok && v != "" {
		return false
	}
	if v, _ := c.lookup("TERM"); v == "dumb" {
		return false
	}
	return isTerminal(w)
}

// paint puts text for stderr in an SGR style, when that is coloured.
func (c *cli) paint(style, text string) string {
	return c.paintFor(c.stderr, style, text)
}

// paintFor is paint for what goes to w.
func (c *cli) paintFor(w io.Writer, style, text string) string {
	if !c.colored(w) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// progress prints a line for people, unless --quiet.
func (c *cli) progress(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.stderr, format+"\n", args...)
	}
}

// printJSON prints v as one JSON document on stdout.
func (c *cli) printJSON(v any) { c.encode(v, "  ") }

// encode writes v as JSON on stdout.
func (c *cli) encode(v any, indent string) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	_ = enc.Encode(v)                                       // a document of ours
	_, _ = c.stdout.Write(wording.EscapeJSON(text.Bytes())) // the exit tells of output that is lost
}

// printsLines is the annotation of commands whose --json prints lines of JSON.
const printsLines = "printsLines"

// printDocument prints v as the command prints JSON: one document, or one line among others.
func (c *cli) printDocument(v any) {
	if c.lines {
		c.printJSONLine(v)
		return
	}
	c.printJSON(v)
}

// printJSONLine prints v as one line of JSON on stdout.
func (c *cli) printJSONLine(v any) { c.encode(v, "") }

// none says that a list is empty.
func (c *cli) none(n int, what string) {
	if n == 0 {
		c.progress("no %s yet", what)
	}
}

// noneOf is none for a list that flags may have narrowed.
func (c *cli) noneOf(n int, what string, narrowed bool) {
	if n == 0 && narrowed {
		c.progress("no %s that fit", what)
		return
	}
	c.none(n, what)
}
