package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// This file measures what a server takes while nobody saves and nobody asks, of a
// site with many files.

const (
	idleFiles = 20_000
	// idleBound is the "peer" of a promise that is a figure of its own, idleMost.
	idleBound = "a bound"
	idleMost  = 0.5 // percent of one processor
)

// idle measures one side, in percent of one processor.
func (b *bench) idle(ctx context.Context, s *side) (err error) {
	files := filepath.Join(s.site, "public", "many")
	if err := writeMany(files, idleFiles); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	srv, err := b.start(ctx, s, s.home)
	if err != nil {
		return err
	}
	defer srv.stop()
	if _, err := fetch(ctx, srv.url+"/many/0/0.txt"); err != nil {
		return err
	}
	if err := rest(ctx, b.rest/4); err != nil { // what it does at first is done then
		return err
	}
	pid := srv.cmd.Process.Pid
	before, begin := treeProcessorTime(pid), b.now()
	if err := rest(ctx, b.rest); err != nil {
		return err
	}
	used := treeProcessorTime(pid) - before
	if before > 0 {
		// The clock of threads counts nanoseconds: nothing at all is a hundredth of a percent here.
		percent := 100 * used / (b.now().Sub(begin).Seconds() * 1000)
		b.results.add(s.name, idleLoad, max(percent, 0.01))
	}
	return nil
}

// writeMany writes n files into folders of 100.
func writeMany(dir string, n int) error {
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprint(i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i%100)+".txt"), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
