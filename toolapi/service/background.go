package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"
)

// Run works in the background until ctx ends: it publishes due schedules, removes expired rows, moves leads into
// their workspaces, and records the uses of keys. It logs a failure and tries again.
func (s *Service) Run(ctx context.Context) {
	poll, clean, collect := time.NewTicker(pollInterval), time.NewTicker(cleanInterval), time.NewTicker(collectInterval)
	defer poll.Stop()
	defer clean.Stop()
	defer collect.Stop()
	var work sync.WaitGroup
	if s.host != nil {
		if err := s.keepPreviews(ctx); err != nil {
			s.log.Error("the data of old previews were not removed", "error", err.Error())
		}
		work.Go(func() { s.runInbox(ctx) })
		if s.sendLeadMail != nil {
			work.Go(func() { s.runLeadMails(ctx) })
		}
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
		s.log.Error("the last use of keys was not saved", "error", err.Error())
	}
}

// Clean removes expired rows: proposals, sessions, answers kept for retries, the oldest of the audit trail, and rate
// windows of unused keys.
func (s *Service) Clean(ctx context.Context) error {
	s.limits.clean()
	s.sends.clean()
	now := s.now()
	old := now.Add(-answerLife).UnixMilli()
	return errors.Join(s.noteUse(ctx), s.db.write(ctx, func(t tx) error {
		return errors.Join(
			t.exec("DELETE FROM proposals WHERE expires_at < ?", old),
			t.exec("DELETE FROM changes WHERE at < ?", old),
			t.exec("DELETE FROM console_sessions WHERE expires_at <= ?", now.UnixMilli()),
			t.exec("DELETE FROM answers WHERE created_at <= ?", old),
			t.exec("DELETE FROM lead_mails WHERE next_at IS NULL AND queued_at <= ?", now.Add(-keptLeadMails).UnixMilli()),
			t.exec("DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id LIMIT ?) AND at <= ?",
				cleanedRows, now.Add(-auditLife).UnixMilli()),
		)
	}))
}

// noteUse stores the last use of keys.
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

// Collect removes unreferenced data: revisions beyond keptRevisions, links, uploads and unproven domains
// that have expired, bundles, and blobs. It keeps revisions that are live, scheduled or shown by a preview link.
func (s *Service) Collect(ctx context.Context) error {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	now := s.now()
	s.uploadUses.clean(now)
	idle, memory := now.Add(-uploadIdle).UnixMilli(), now.Add(-uploadIdle-uploadMemory).UnixMilli()
	ended, err := writeTx(ctx, s.db, func(t tx) ([]string, error) {
		ended, err := t.endExpiredPreviews(now)
		return ended, errors.Join(
			err,
			t.exec("DELETE FROM sign_in_links WHERE expires_at <= ?", now.UnixMilli()),
			t.exec("DELETE FROM uploads WHERE touched_at <= ?", memory),
			t.exec("DELETE FROM domains WHERE pending_since <= ?", now.Add(-proofLife).UnixMilli()),
			t.exec("UPDATE uploads SET bundle_id = NULL WHERE touched_at <= ? AND revision IS NULL", idle),
			t.removeRevisions(now),
			t.removeBundles(now),
		)
	})
	if err != nil {
		return err
	}
	if s.host != nil {
		for _, id := range ended {
			s.host.EndPreview(id)
		}
	}
	store, err := s.store()
	if err != nil {
		return err
	}
	listed := map[int64]*listedBlobs{} // by workspace
	n, err := store.Collect(func(workspace int64, sums map[string]bool) error {
		if listed[workspace] == nil {
			listed[workspace] = &listedBlobs{workspace: workspace, sums: map[[sha256.Size]byte]bool{}}
		}
		return s.db.read(ctx, func(t tx) error { return listed[workspace].removeFrom(t, sums) })
	})
	if n > 0 {
		s.log.Info("collected blobs", "blobs", n)
	}
	return err
}

// keepPreviews makes the host remove the data of ended previews, including those that ended while no process ran.
func (s *Service) keepPreviews(ctx context.Context) error {
	ids, err := readTx(ctx, s.db, func(t tx) ([]string, error) {
		return listColumn[string](t, "SELECT data_id FROM named_previews ORDER BY data_id")
	})
	if err != nil {
		return err
	}
	return s.host.KeepPreviews(ids)
}

// removeRevisions removes the oldest revisions of sites that have too many.
func (t tx) removeRevisions(now time.Time) error {
	sites, err := listColumn[string](t, "SELECT site_id FROM revisions GROUP BY site_id HAVING count(*) > ?", keptRevisions)
	if err != nil {
		return err
	}
	for _, site := range sites {
		previewed, err := listColumn[string](t, "SELECT revision FROM previews WHERE site_id = ? AND expires_at > ?", site, now.UnixMilli())
		if err != nil {
			return err
		}
		old, err := listColumn[string](t, `SELECT r.name FROM revisions r JOIN sites s ON s.id = r.site_id
			WHERE r.site_id = ? AND r.name IS NOT s.live_revision
			AND r.name NOT IN (SELECT revision FROM schedules WHERE site_id = r.site_id)
			ORDER BY r.number DESC LIMIT -1 OFFSET ?`, site, keptRevisions)
		if err != nil {
			return err
		}
		for _, name := range slices.DeleteFunc(old, func(name string) bool { return slices.Contains(previewed, name) }) {
			err := errors.Join(
				t.exec("DELETE FROM revisions WHERE site_id = ? AND name = ?", site, name),
				t.exec("DELETE FROM uploads WHERE site_id = ? AND revision = ?", site, name),
			)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// removeBundles removes the bundles that nothing has referred to for keptBlobs.
func (t tx) removeBundles(now time.Time) error {
	const used = "(EXISTS (SELECT 1 FROM revisions r WHERE r.bundle_id = bundles.id) OR EXISTS (SELECT 1 FROM uploads " +
		"u WHERE u.bundle_id = bundles.id))"
	err := errors.Join(
		t.exec("UPDATE bundles SET released_at = ? WHERE released_at IS NULL AND NOT "+used, now.UnixMilli()),
		t.exec("UPDATE bundles SET released_at = NULL WHERE released_at IS NOT NULL AND "+used),
	)
	if err != nil {
		return err
	}
	gone, err := listColumn[int64](t, "SELECT id FROM bundles WHERE released_at <= ?", now.Add(-keptBlobs).UnixMilli())
	for _, id := range gone {
		err = errors.Join(err, t.exec("DELETE FROM bundles WHERE id = ?", id))
	}
	return err
}

// listedBlobs are the blobs of a workspace's bundles. The first read covers all bundles, later ones only new bundles.
// No bundle is removed while it is in use.
type listedBlobs struct {
	workspace int64
	newest    int64 // bundle
	sums      map[[sha256.Size]byte]bool
}

// removeFrom removes the blobs that a bundle lists from sums.
func (l *listedBlobs) removeFrom(t tx, sums map[string]bool) error {
	ids, err := listColumn[int64](t, "SELECT id FROM bundles WHERE workspace_id = ? AND id > ? ORDER BY id", l.workspace, l.newest)
	if err != nil {
		return err
	}
	for _, id := range ids {
		packed, err := t.blobList(id)
		if err != nil {
			return err
		}
		for i := range packed.len() {
			sum, _ := packed.at(i)
			l.sums[[sha256.Size]byte(sum)] = true
		}
		l.newest = id
	}
	for sum := range sums {
		raw, err := hex.DecodeString(sum)
		if err != nil {
			return err
		}
		if len(raw) == sha256.Size && l.sums[[sha256.Size]byte(raw)] {
			delete(sums, sum)
		}
	}
	return nil
}
