package main

import (
	"fmt"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// The lines of --json: what happened, by its type.
type readyEvent struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type buildEvent struct {
	Type     string              `json:"type"`
	Number   int64               `json:"number"`
	OK       bool                `json:"ok"`
	MS       float64             `json:"ms"`
	Problems []devserver.Problem `json:"problems"`
}

type errorEvent struct {
	Type    string            `json:"type"`
	Problem devserver.Problem `json:"problem"`
}

type typedLine struct {
	Type string `json:"type"`
	site.LogLine
}

type typedRequest struct {
	Type string `json:"type"`
	site.RequestRecord
}

// logLine is a line of a Worker in the terms of the log.
func logLine(l pagesruntime.Line) site.LogLine {
	line := site.LogLine{Time: site.Stamp{Time: l.Time}, Level: l.Level, Text: l.Text, Args: l.Args}
	if l.Request != nil {
		line.Request, line.Route = site.RequestOf(l.Request.Context())
	}
	if len(l.Frames) > 0 {
		at := l.Frames[0]
		line.At = fmt.Sprintf("%s:%d:%d", at.File, at.Line, at.Column)
	}
	if !l.Called {
		for _, f := range l.Frames {
			line.Stack = append(line.Stack, f.String())
		}
	}
	return line
}
