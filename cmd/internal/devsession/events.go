package devsession

import (
	"fmt"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// ReadyEvent is the first line of --json.
type ReadyEvent struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// BuildEvent is a build among the lines of --json.
type BuildEvent struct {
	Type     string              `json:"type"`
	Number   int64               `json:"number"`
	OK       bool                `json:"ok"`
	MS       float64             `json:"ms"`
	Problems []devserver.Problem `json:"problems"`
}

// ErrorEvent is a request that failed.
type ErrorEvent struct {
	Type    string            `json:"type"`
	Problem devserver.Problem `json:"problem"`
}

// LogEvent is a line of a Worker's console.
type LogEvent struct {
	Type string `json:"type"`
	site.LogLine
}

// RequestEvent is a request that was answered.
type RequestEvent struct {
	Type string `json:"type"`
	site.RequestRecord
}

// SiteEvent is an event of a form, or its delivery.
type SiteEvent struct {
	Type string `json:"type"`
	site.Event
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
