package service

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"time"
)

// Collect removes what nothing refers to any more: revisions beyond those that are
// kept, links and uploads that have expired, bundles, and blobs. What is live,
// scheduled or shown by a preview link is never among them.
func (s *Service) Collect(ctx context.Context) error {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	now := s.now()
	s.touches.clean(now)
	var ended []string
	err := s.db.write(ctx, func(t tx) (err error) {
		ended, err = list(
			t, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
			"SELECT id FROM previews WHERE expires_at <= ?", now.UnixMilli(),
		)
		return errors.Join(err, t.forgetExpired(now), t.forgetRevisions(now), t.forgetBundles(now))
	})
	if err != nil {
		return err
	}
	if s.host != nil {
		for _, id := range ended { // what a preview kept is as old as its link
			s.host.EndPreview(id)
		}
	}
	store, err := s.store()
	if err != nil {
		return err
	}
	listed := &listedBlobs{spaces: map[int64]*listedSpace{}}
	n, err := store.Collect(func(workspace int64, sums map[string]bool) error {
		return s.db.read(ctx, func(t tx) error { return listed.keepBundle(t, workspace, sums) })
	})
	if n > 0 {
		s.log.Info("collected blobs", "blobs", n)
	}
	return err
}

// forgetExpired forgets links, uploads and domains without a proof whose time is over.
func (t tx) forgetExpired(now time.Time) error {
	idle, memory := now.Add(-uploadIdle).UnixMilli(), now.Add(-uploadIdle-uploadMemory).UnixMilli()
	return errors.Join(
		t.exec("DELETE FROM previews WHERE expires_at <= ?", now.UnixMilli()),
		t.exec("DELETE FROM sign_in_links WHERE expires_at <= ?", now.UnixMilli()),
		t.exec("DELETE FROM uploads WHERE touched_at <= ?", memory),
		t.exec("DELETE FROM domains WHERE pending_since <= ?", now.Add(-proofLife).UnixMilli()),
		t.exec("UPDATE uploads SET bundle_id = NULL WHERE touched_at <= ? AND revision IS NULL", idle),
	)
}

// forgetRevisions forgets the oldest revisions of sites that have too many.
func (t tx) forgetRevisions(now time.Time) error {
	sites, err := list(
		t, func(rows *sql.Rows, site *string) error { return rows.Scan(site) },
		"SELECT site_id FROM revisions GROUP BY site_id HAVING count(*) > ?", keptRevisions,
	)
	if err != nil {
		return err
	}
	for _, site := range sites {
		held, err := t.previewedRevisions(site, now)
		if err != nil {
			return err
		}
		old, err := list(t, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
			`SELECT r.name FROM revisions r JOIN sites s ON s.id = r.site_id
			WHERE r.site_id = ? AND r.name IS NOT s.live_revision
			AND r.name NOT IN (SELECT revision FROM schedules WHERE site_id = r.site_id)
			ORDER BY r.number DESC LIMIT -1 OFFSET ?`, site, keptRevisions)
		if err != nil {
			return err
		}
		for _, name := range slices.DeleteFunc(old, func(name string) bool { return held[name] }) {
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

// forgetBundles forgets the bundles that nothing has referred to for a while.
func (t tx) forgetBundles(now time.Time) error {
	const used = "(EXISTS (SELECT 1 FROM revisions r WHERE r.bundle_id = bundles.id) OR EXISTS (SELECT 1 FROM uploads " +
		"u WHERE u.bundle_id = bundles.id))"
	err := errors.Join(
		t.exec("UPDATE bundles SET released_at = ? WHERE released_at IS NULL AND NOT "+used, now.UnixMilli()),
		t.exec("UPDATE bundles SET released_at = NULL WHERE released_at IS NOT NULL AND "+used),
	)
	if err != nil {
		return err
	}
	gone, err := list(
		t, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		"SELECT id FROM bundles WHERE released_at <= ?", now.Add(-keptBlobs).UnixMilli(),
	)
	for _, id := range gone {
		err = errors.Join(err, t.exec("DELETE FROM bundles WHERE id = ?", id))
	}
	return err
}

// listedBlobs are the blobs of all bundles, read once, and then of those that were
// added since: no bundle goes while it is used.
type listedBlobs struct{ spaces map[int64]*listedSpace }

type listedSpace struct {
	newest int64 // bundle
	sums   map[[sha256.Size]byte]bool
}

// keepBundle takes the blobs that a bundle of the workspace has off a list.
func (l *listedBlobs) keepBundle(t tx, workspace int64, sums map[string]bool) error {
	space := l.spaces[workspace]
	if space == nil {
		space = &listedSpace{sums: map[[sha256.Size]byte]bool{}}
		l.spaces[workspace] = space
	}
	ids, err := list(
		t, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		"SELECT id FROM bundles WHERE workspace_id = ? AND id > ? ORDER BY id", workspace, space.newest,
	)
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
			space.sums[[sha256.Size]byte(sum)] = true
		}
		space.newest = id
	}
	for sum := range sums {
		raw, err := hex.DecodeString(sum)
		if err != nil {
			return err
		}
		if len(raw) == sha256.Size && space.sums[[sha256.Size]byte(raw)] {
			delete(sums, sum)
		}
	}
	return nil
}
