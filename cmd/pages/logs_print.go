package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
)

// printEntry prints an entry for people: a request with its lines below it.
func (c *cli) printEntry(e devserver.LogEntry) {
	colour := c.term.Colored(c.term.Stdout)
	if e.Line != nil {
		c.printLine(e.Line.Time, e.Line.Request, devserver.FormatLine(*e.Line, colour))
		return
	}
	c.printLine(e.Request.At, e.Request.ID, devserver.FormatRequest(e.Request.RequestRecord, colour))
	for _, l := range e.Request.Logs {
		printIndented(c.term.Stdout, devserver.FormatLine(l, colour))
	}
}

func (c *cli) printLine(at site.Stamp, id, text string) {
	const width = len("req_") + 12
	first, rest, several := strings.Cut(text, "\n")
	fmt.Fprintf(c.term.Stdout, "%s  %-*s  %s\n", at.Local().Format("2006-01-02 15:04:05.000"), width, id, first)
	if several {
		printIndented(c.term.Stdout, rest)
	}
}

func printIndented(w io.Writer, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(w, "    %s\n", line)
	}
}
