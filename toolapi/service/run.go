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
	var work sync.WaitGroup
	if s.host != nil {
		work.Go(func() { s.runInbox(ctx) })
	}
	defer work.Wait()
	failed := func(err error) {
		if ctx.Err() == nil {
			s.log.Error("scheduled publish failed", "error", err.Error())
		}
	}
	for ctx.Err() == nil {
		s.beginDue(ctx, &work, failed)
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
	var (
		work sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	s.beginDue(ctx, &work, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	})
	work.Wait()
	return errors.Join(errs...)
}

// beginDue publishes what is due, in work: a workspace's pages one after the other, and
// no workspace waits for another, whose migrations may take minutes. One that is not
// done with what was due earlier is left for the next time.
func (s *Service) beginDue(ctx context.Context, work *sync.WaitGroup, failed func(error)) {
	now := s.now().UnixMilli()
	var all []due
	err := s.db.read(ctx, func(t tx) (err error) {
		all, err = t.dueBy(now)
		return err
	})
	if err != nil {
		failed(err)
		return
	}
	of := map[int64][]due{}
	for _, d := range all {
		of[d.workspace] = append(of[d.workspace], d)
	}
	for workspace, its := range of {
		if _, busy := s.publishing.LoadOrStore(workspace, true); busy {
			continue
		}
		work.Go(func() {
			defer s.publishing.Delete(workspace)
			for _, d := range its {
				if err := s.publishScheduled(ctx, d, now); err != nil {
					failed(err)
				}
			}
		})
	}
}

// Clean forgets what has expired: proposals, answers kept for retries, the oldest of the
// audit trail, and rate windows of keys that rest.
func (s *Service) Clean(ctx context.Context) error {
	s.limits.clean()
	s.sends.clean()
	now := s.now()
	old := now.Add(-answerLife).UnixMilli()
	return errors.Join(s.noteUse(ctx), s.db.write(ctx, func(t tx) error {
		return errors.Join(
			t.exec("DELETE FROM proposals WHERE expires_at < ?", old),
			t.exec("DELETE FROM console_sessions WHERE expires_at <= ?", now.UnixMilli()),
			t.exec("DELETE FROM answers WHERE created_at <= ?", old),
			t.exec(
				"DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id LIMIT ?) AND at <= ?", cleanedRows,
				now.Add(-auditLife).UnixMilli(),
			),
		)
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
