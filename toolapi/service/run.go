package service

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Run does what is due, until ctx ends: it publishes what was scheduled, forgets
// what has expired, takes leads into their workspaces, and writes down when keys were used. A failure is logged and
// tried again.
func (s *Service) Run(ctx context.Context) {
	poll, clean, collect := time.NewTicker(pollInterval), time.NewTicker(cleanInterval), time.NewTicker(collectInterval)
	defer poll.Stop()
	defer clean.Stop()
	defer collect.Stop()
	var inbox sync.WaitGroup
	if s.host != nil {
		inbox.Go(func() { s.runInbox(ctx) })
	}
	defer inbox.Wait()
	for ctx.Err() == nil {
		if err := s.PublishDue(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("scheduled publish failed", "error", err.Error())
		}
		select {
		case <-ctx.Done():
		case <-poll.C:
		case <-clean.C:
			if err := s.Clean(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("cleaning failed", "error", err.Error())
			}
		case <-collect.C:
			if err := s.Collect(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("collecting failed", "error", err.Error())
			}
		}
	}
	if err := s.noteUse(context.WithoutCancel(ctx)); err != nil {
		s.log.Error("the last use of keys was not written", "error", err.Error())
	}
}

// PublishDue publishes every page whose scheduled time has come.
func (s *Service) PublishDue(ctx context.Context) error {
	now := s.now().UnixMilli()
	var all []due
	err := s.db.read(ctx, func(t tx) (err error) {
		all, err = t.dueBy(now)
		return err
	})
	for _, d := range all {
		if e := s.publishScheduled(ctx, d, now); e != nil {
			err = errors.Join(err, e)
			continue
		}
		s.log.Info("published as scheduled", "site", d.site, "revision", d.revision)
	}
	return err
}

// Clean forgets what has expired: proposals, answers kept for retries, and rate
// windows of keys that rest.
func (s *Service) Clean(ctx context.Context) error {
	s.limits.clean()
	s.sends.clean()
	old := s.now().Add(-answerLife).UnixMilli()
	return errors.Join(s.noteUse(ctx), s.db.write(ctx, func(t tx) error {
		if err := t.exec("DELETE FROM proposals WHERE expires_at < ?", old); err != nil {
			return err
		}
		if err := t.exec("DELETE FROM console_sessions WHERE expires_at <= ?", s.now().UnixMilli()); err != nil {
			return err
		}
		return t.exec("DELETE FROM answers WHERE created_at <= ?", old)
	}))
}

// noteUse writes down when keys were last used.
func (s *Service) noteUse(ctx context.Context) error {
	used := s.used.take()
	if len(used) == 0 {
		return nil
	}
	return s.db.write(ctx, func(t tx) error {
		for key, at := range used {
			if err := t.exec("UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?", at, key); err != nil {
				return err
			}
		}
		return nil
	})
}
