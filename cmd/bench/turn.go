package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// warmUp starts the side once, unmeasured, so that its caches are filled, and
// sees to it that it serves what is measured.
func (b *bench) warmUp(ctx context.Context, s *side) error {
	srv, err := b.start(ctx, s, s.home)
	if err != nil {
		return err
	}
	defer srv.stop()
	_, err = fetch(ctx, srv.url+staticPath)
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

// loaded measures what a running server does.
func (b *bench) loaded(ctx context.Context, s *side, srv *server) error {
	for _, c := range []struct {
		measure measure
		path    string
	}{{jsonRate, jsonPath}, {chainRate, chainPath}, {staticRate, staticPath}} {
		if _, err := b.load.rate(ctx, srv.url+c.path, time.Second); err != nil { // warms up
			return err
		}
		rate, err := b.load.rate(ctx, srv.url+c.path, b.duration)
		if err != nil {
			return fmt.Errorf("loading %s: %w", c.path, err)
		}
		b.results.add(s.name, c.measure, rate)
	}
	for range b.saves {
		s.version++
		begin := b.now()
		if err := saveWorker(s.site, s.version); err != nil {
			return err
		}
		if err := srv.await(ctx, answer(s.version)); err != nil {
			return fmt.Errorf("after a save: %w", err)
		}
		b.results.add(s.name, saveToAnswer, b.now().Sub(begin).Seconds()*1000)
	}
	return nil
}
