package inbox

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
)

// This file formats leads, events and log entries for people, without control characters of clients.

// LeadLine formats a lead as one line.
func LeadLine(l site.Lead) string {
	var fields []string
	for _, f := range l.Fields {
		fields = append(fields, fmt.Sprintf("%s=%q", wording.Printable(f.Name), valueText(f)))
	}
	last := strings.Join(l.Events, ", ")
	if l.Spam != nil {
		last = l.Spam.String()
	}
	return fmt.Sprintf(
		"%s  %s  %-12s %s  [%s]%s", wording.Clock(l.CreatedAt.Time), l.ID, l.Form, strings.Join(fields, " "),
		wording.Printable(last), rowNote(l.Submission),
	)
}

// rowNote gives the reason why a lead has no row; "" for a lead that has one, or needs none.
func rowNote(s site.Submission) string {
	if s.Status != site.SubmissionFailed && s.Status != site.SubmissionPending {
		return ""
	}
	return fmt.Sprintf("  row in %s %s%s", s.Table, s.Status, reasonNote(s.Error))
}

// WriteLead writes a lead with its answers, its row and its events.
func WriteLead(w io.Writer, lead Lead) {
	l := lead.Lead
	fmt.Fprintf(w, "%s  %s  %s\n", l.ID, l.Form, wording.Clock(l.CreatedAt.Time))
	for _, f := range l.Fields {
		fmt.Fprintf(w, "  %s: %s\n", wording.Printable(f.Name), wording.Printable(valueText(f)))
	}
	if s := l.Submission; s.Status != site.SubmissionNone {
		fmt.Fprintf(w, "row in %s: %s%s\n", s.Table, s.Status, reasonNote(s.Error))
	}
	if len(l.Unasked) > 0 {
		fmt.Fprintf(w, "in no column, since no form of the site asks for it: %s\n", wording.Printable(strings.Join(l.Unasked, ", ")))
	}
	if l.Spam != nil {
		fmt.Fprintf(w, "spam, %s\n", wording.Printable(l.Spam.String()))
	}
	for _, e := range lead.Events {
		fmt.Fprintf(w, "event %s  %s%s\n", e.ID, e.Name, deliveryNote(e.Delivery))
	}
}

// valueText formats an answer, several with "; " between them; a file as its name, its type and its size.
func valueText(f site.Field) string {
	var several []json.RawMessage
	if json.Unmarshal(f.Value, &several) != nil {
		several = []json.RawMessage{f.Value}
	}
	var texts []string
	for _, value := range several {
		var file site.File
		if json.Unmarshal(value, &file) != nil || file.SHA256 == "" {
			texts = append(texts, site.Fields{{Name: f.Name, Value: value}}.Text(f.Name))
			continue
		}
		parts := []string{file.Filename, file.ContentType, wording.Size(file.Size)}
		texts = append(texts, strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "))
	}
	return strings.Join(texts, "; ")
}

// FileLine formats a file of a lead as one line.
func FileLine(f LeadFile) string {
	saved := ""
	if f.Saved != "" {
		saved = "  -> " + wording.Printable(f.Saved)
	}
	return fmt.Sprintf(
		"%s: %q  %s  %s%s", wording.Printable(f.Field), f.Filename, wording.Printable(f.ContentType),
		wording.Size(f.Size), saved,
	)
}

// EventLine formats an event as one line.
func EventLine(e site.Event) string {
	return fmt.Sprintf("%s  %s  %-28s %s  %s%s", wording.Clock(e.CreatedAt.Time), e.ID, e.Name, e.Form, e.LeadID, deliveryNote(e.Delivery))
}

// deliveryNote describes the delivery of an event; "" if the event is not delivered.
func deliveryNote(d *site.Delivery) string {
	if d == nil {
		return ""
	}
	note := "  " + string(d.Status)
	if d.Attempts > 1 || d.Error != "" {
		note += fmt.Sprintf(" after %s", wording.Count(d.Attempts, "attempt"))
	}
	return note + reasonNote(d.Error)
}

func reasonNote(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + wording.Printable(reason)
}

// WriteEntry writes an entry of the log: a request with its lines below it.
func WriteEntry(w io.Writer, e devserver.LogEntry, color bool) {
	if e.Line != nil {
		writeLine(w, e.Line.Time, e.Line.Request, devserver.FormatLine(*e.Line, color))
		return
	}
	writeLine(w, e.Request.At, e.Request.ID, devserver.FormatRequest(e.Request.RequestRecord, color))
	for _, l := range e.Request.Logs {
		writeIndented(w, devserver.FormatLine(l, color))
	}
}

func writeLine(w io.Writer, at site.Stamp, id, text string) {
	const width = len("req_") + 12
	first, rest, several := strings.Cut(text, "\n")
	fmt.Fprintf(w, "%s  %-*s  %s\n", at.Local().Format("2006-01-02 15:04:05.000"), width, id, first)
	if several {
		writeIndented(w, rest)
	}
}

func writeIndented(w io.Writer, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(w, "    %s\n", line)
	}
}
