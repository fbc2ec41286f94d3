package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// measureDev takes all rounds of the dev servers.
func (b *bench) measureDev(ctx context.Context, dir string) error {
	sides, err := b.sides(ctx, dir)
	if err != nil {
		return err
	}
	for _, s := range sides {
		b.say("warming up %s", s.name)
		if err := b.warmUp(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	err = b.rotate(sides, "", func(s *side) error { return b.turn(ctx, s) })
	if err != nil {
		return err
	}
	b.results.add(idleBound, idleLoad, idleMost)
	for _, s := range slices.DeleteFunc(sides, func(s *side) bool { return s.filesOnly }) {
		b.say("leaving %s alone", s.name)
		if err := b.idle(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// warmUp starts the side once, unmeasured, so that its caches are filled, and
// sees to it that it serves what is measured.
func (b *bench) warmUp(ctx context.Context, s *side) error {
	srv, err := b.start(ctx, s, s.home)
	if err != nil {
		return err
	}
	defer srv.stop()
	_, err = fetch(ctx, srv.url+smallPath)
	return err
}

// turn measures everything of one side once.
func (b *bench) turn(ctx context.Context, s *side) error {
	if s.coldStart {
		if err := b.cold(ctx, s); err != nil {
			return err
		}
	}
	srv, err := b.start(ctx, s, s.home)
	if err != nil {
		return err
	}
	b.results.add(s.name, startWarm, srv.started.Seconds()*1000)
	err = b.loaded(ctx, s, srv)
	b.results.add(s.name, peakMemory, float64(srv.stop())/(1<<20))
	return err
}

// cold measures a start with nothing in the home.
func (b *bench) cold(ctx context.Context, s *side) error {
	home, err := os.MkdirTemp(filepath.Dir(s.home), "cold-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	srv, err := b.start(ctx, s, home)
	if err != nil {
		return err
	}
	b.results.add(s.name, startCold, srv.started.Seconds()*1000)
	srv.stop()
	return nil
}

// loadedPath is a path that is loaded for a row.
type loadedPath struct {
	measure measure
	path    string
}

// loaded measures what a running server does.
func (b *bench) loaded(ctx context.Context, s *side, srv *server) error {
	paths := []loadedPath{{smallRate, smallPath}, {largeRate, largePath}}
	if !s.filesOnly {
		paths = append([]loadedPath{{jsonRate, jsonPath}, {chainRate, chainPath}}, paths...)
	}
	for _, c := range paths {
		if err := b.rate(ctx, s.name, c.measure, srv.url+c.path, time.Second); err != nil {
			return err
		}
	}
	if s.filesOnly {
		return nil
	}
	return b.saved(ctx, s, srv)
}

// saved measures saves, until the next answer and until a browser shows them.
func (b *bench) saved(ctx context.Context, s *side, srv *server) error {
	for range b.saves {
		s.version++
		begin := b.now()
		if err := saveWorker(s.site, s.version); err != nil {
			return err
		}
		if err := srv.await(ctx, jsonPath, answer(s.version)); err != nil {
			return fmt.Errorf("after a save: %w", err)
		}
		b.results.add(s.name, saveToAnswer, b.now().Sub(begin).Seconds()*1000)
	}
	return b.visible(ctx, s, srv)
}

var devPromises = []promise{
	{startWarm, wranglerDev, startWarm, "ms", false, 15},
	{startCold, wranglerDev, startWarm, "ms", false, 5},
	{jsonRate, wranglerDev, jsonRate, "req/s", true, 10},
	{chainRate, wranglerDev, chainRate, "req/s", true, 0},
	{smallRate, wranglerDev, smallRate, "req/s", true, 25},
	{smallRate, caddyServer, smallRate, "req/s", true, 0.7},
	{largeRate, wranglerDev, largeRate, "req/s", true, 0},
	{largeRate, caddyServer, largeRate, "req/s", true, 0.7},
	{peakMemory, wranglerDev, peakMemory, "MiB", false, 5},
	{saveToAnswer, wranglerDev, saveToAnswer, "ms", false, 5},
	{saveToVisible, wranglerDev, saveToVisible, "ms", false, 4},
	{idleLoad, idleBound, idleLoad, "% of a processor", false, 1},
	{idleLoad, wranglerDev, idleLoad, "% of a processor", false, 0},
}
