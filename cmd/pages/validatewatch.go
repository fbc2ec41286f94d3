package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/devserver"
)

// validateOnChange checks now and after every change of what was looked at, until
// a signal ends it. A report that says the same as the last one is not repeated.
func (c *cli) validateOnChange(ctx context.Context, f validateFlags, args []string) error {
	if len(args) == 0 {
		dir, err := c.sites().Find(nil)
		if err != nil {
			return err
		}
		args = []string{dir}
	}
	check := project.Checker{Sites: c.sites(), Alone: f.alone, Record: true}
	var last []byte
	return devserver.Follow(ctx, c.term.Now, devsession.NewLogger(&c.term), func(ctx context.Context) ([]string, error) {
		results, err := check.All(ctx, args)
		if err != nil {
			return nil, err
		}
		var watch []string
		for _, r := range results {
			watch = append(watch, r.Looked...)
		}
		text, err := c.watchedReport(f.format, results)
		if err == nil && !bytes.Equal(text, last) {
			_, err = c.term.Stdout.Write(text)
		}
		if last == nil {
			c.term.Progress("watching for changes; Ctrl-C ends")
		}
		last = text
		slices.Sort(watch)
		return slices.Compact(watch), err
	})
}

// watchedReport is a report as text, or as one line of JSON for each site.
func (c *cli) watchedReport(format string, results []project.Checked) ([]byte, error) {
	var b bytes.Buffer
	if format == "json" {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		for _, r := range results {
			if err := enc.Encode(r.Report); err != nil {
				return nil, err
			}
		}
		return b.Bytes(), nil
	}
	err := c.writeText(&b, results)
	return b.Bytes(), err
}
