package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/restorepoint"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// This file makes the restore points of sites: before each publish and each restore, and at intervals while a site's data changes. A point
// has the database of one moment; only a publish waits for it.

const (
	// pointInterval is the longest time that a changing site goes without a new restore point.
	pointInterval = 5 * time.Minute
	// pointStep is the time between two looks for changed sites.
	pointStep = 30 * time.Second
	// pointShare bounds the work: the pause before the next point of an interval is at least this many times the duration of the last one.
	pointShare = 20
	// pointedBytes is the largest database of which a publish without migrations makes a point, since making one reads the whole database.
	// The points of the interval exist in any case.
	pointedBytes = 1_000_000_000
)

// points are the restore points of a site.
type points struct {
	mu   sync.Mutex // held while one is made
	seen fileState  // of the database, when the last one was made
	next time.Time  // when the next point of the interval is due; the zero time is unknown
}

// fileState changes with each commit to a database.
type fileState struct{ database, log fileTimes }

type fileTimes struct {
	size    int64
	changed time.Time
}

func stateOf(file string) (s fileState) {
	for name, into := range map[string]*fileTimes{file: &s.database, file + "-wal": &s.log} {
		if info, err := os.Stat(name); err == nil {
			*into = fileTimes{info.Size(), info.ModTime()}
		}
	}
	return s
}

// pointsOf returns the store of a site's restore points.
func (h *Host) pointsOf(dir string) restorepoint.Store {
	return restorepoint.Store{File: filepath.Join(dir, statefolder.PointsFile), Now: h.o.Now}
}

// addPoint makes a restore point of the site's database, which is durable when it returns. A database without a table gets
// none.
func (s *hostedSite) addPoint(ctx context.Context, about restorepoint.About) (p restorepoint.Point, err error) {
	s.points.mu.Lock()
	defer s.points.mu.Unlock()
	file := filepath.Join(s.dir, statefolder.SiteFile)
	seen, began := stateOf(file), s.host.o.Now()
	var tables bool
	if err := s.database.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema)").Scan(&tables); err != nil || !tables {
		return p, err
	}
	store := s.host.pointsOf(s.dir)
	p, _, err = store.Add(ctx, file, about)
	if damaged, ok := errors.AsType[*restorepoint.DamagedError](err); ok {
		s.host.o.Logger.Error("set aside the damaged restore points of a site", "site", s.id, "error", damaged.Error())
		if err := setAside(store.File); err != nil {
			return p, err
		}
		p, _, err = store.Add(ctx, file, about)
	}
	if err != nil {
		s.host.notice(err)
		return p, fmt.Errorf("make a restore point: %w", err)
	}
	now := s.host.o.Now()
	s.points.seen, s.points.next = seen, now.Add(max(pointInterval, pointShare*now.Sub(began)))
	return p, nil
}

// setAside renames the file of damaged restore points, so that new ones can be made. It replaces the file of an earlier call.
func setAside(file string) error {
	aside := filepath.Join(filepath.Dir(file), statefolder.DamagedPointsFile)
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(file + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(os.Rename(file, aside), dbfile.SyncFolder(os.Open, filepath.Dir(file)))
}

// pointBeforePublish makes the restore point of a publish. A publish without one fails: the losses of its migrations could not be restored.
func (s *hostedSite) pointBeforePublish(ctx context.Context, r service.Release, migrates bool) error {
	if r.Preview || r.Live == r.Revision || r.Restore != nil {
		return nil
	}
	info, err := os.Stat(filepath.Join(s.dir, statefolder.SiteFile))
	if err != nil {
		return err
	}
	if !migrates && info.Size() > pointedBytes {
		return nil
	}
	// A failure, such as a full disk, is a fault of the service: the release is not at fault, and a schedule waits.
	_, err = s.addPoint(ctx, restorepoint.About{Reason: restorepoint.ReasonPublish, Before: r.Revision, Revision: r.Live})
	return err
}

// KeepPoints makes restore points of changing sites, and of copies that earlier versions left, until the returned function is called.
func (h *Host) KeepPoints() (stop func()) {
	ctx, cancel := context.WithCancel(h.until)
	var adopting sync.WaitGroup
	adopting.Go(func() { h.adoptCopies(ctx) })
	keeping := h.repeat(pointStep, h.addDuePoints)
	return func() {
		cancel()
		adopting.Wait()
		keeping()
	}
}

// addDuePoints makes the restore points that are due.
func (h *Host) addDuePoints(ctx context.Context) {
	h.mu.Lock()
	all := make([]*hostedSite, 0, len(h.sites))
	for _, s := range h.sites {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		if ctx.Err() != nil {
			return
		}
		if err := s.addDuePoint(ctx); err != nil && ctx.Err() == nil {
			h.o.Logger.Error("a restore point was not made", "site", s.id, "error", err.Error())
		}
	}
}

// addDuePoint makes a restore point of an open site, if one is due and its data changed.
func (s *hostedSite) addDuePoint(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}:
	default:
		return nil // it is being opened or closed, or a release is being prepared
	}
	if s.database == nil || s.dir == "" || s.ended {
		s.unlock()
		return nil
	}
	s.usage.hold() // open while it is read
	s.unlock()
	defer s.usage.letGo()
	now := s.host.o.Now()
	s.points.mu.Lock()
	if s.points.next.IsZero() || s.points.next.Sub(now) > 2*pointShare*pointInterval { // the clock was set back
		s.points.next = now.Add(pointInterval)
	}
	due := !now.Before(s.points.next) && stateOf(filepath.Join(s.dir, statefolder.SiteFile)) != s.points.seen
	s.points.mu.Unlock()
	if !due {
		return nil
	}
	s.showing.Lock()
	live := s.shown
	s.showing.Unlock()
	_, err := s.addPoint(ctx, restorepoint.About{Reason: restorepoint.ReasonInterval, Revision: live})
	return err
}

// RestorePoints implements service.Host.
func (h *Host) RestorePoints(ctx context.Context, site string, count bool) (service.RestorePoints, error) {
	dir := filepath.Join(h.dir, site)
	all := service.RestorePoints{Rule: restorepoint.Rule, Points: []toolapi.RestorePoint{}}
	store := h.pointsOf(dir)
	list, err := store.List(ctx)
	if damaged, ok := errors.AsType[*restorepoint.DamagedError](err); ok {
		return all, &service.ReleaseError{
			Code: toolapi.CodeRestorePointDamaged,
			Message: fmt.Sprintf("The restore points of the site cannot be read: %v. Ask the operator of the service to restore a "+
				"backup; the next publish starts a new file.", damaged),
		}
	}
	if err != nil {
		return all, err
	}
	var bytes int64
	file := filepath.Join(dir, statefolder.SiteFile)
	if info, err := os.Stat(file); err == nil {
		bytes = info.Size()
		if count {
			all.Tables = countedTables(ctx, file)
		}
	}
	limits := store.Limits(bytes)
	all.MaxPoints, all.MaxBytes = limits.Points, limits.Bytes
	for _, p := range list {
		all.Points = append(all.Points, pointOf(p))
	}
	return all, nil
}

// countTime bounds the count of current rows for a list of restore points.
const countTime = time.Second

// countedTables returns the tables of a database; none if counting their rows takes too long.
func countedTables(ctx context.Context, file string) []toolapi.RestoreTable {
	bounded, stop := context.WithTimeout(ctx, countTime)
	defer stop()
	tables, err := restorepoint.Count(bounded, file)
	if err != nil {
		return nil
	}
	return tablesOf(tables)
}

func tablesOf(tables []restorepoint.Table) (all []toolapi.RestoreTable) {
	for _, t := range tables {
		all = append(all, toolapi.RestoreTable{Table: t.Name, Rows: t.Rows})
	}
	return all
}

func pointOf(p restorepoint.Point) toolapi.RestorePoint {
	one := toolapi.RestorePoint{
		ID: p.ID, At: p.At.Format(time.RFC3339Nano), Reason: toolapi.RestoreReason(p.Reason), Bytes: p.Bytes,
		Migrations: slices.Clone(p.Migrations), Tables: []toolapi.RestoreTable{},
	}
	for _, t := range []struct {
		from string
		into **string
	}{{p.Before, &one.Before}, {p.Revision, &one.Revision}} {
		if t.from != "" {
			*t.into = &t.from
		}
	}
	one.Tables = append(one.Tables, tablesOf(p.Tables)...)
	if p.Reason == restorepoint.ReasonCopy {
		one.Reason = toolapi.RestoreReason(restorepoint.ReasonPublish) // the service knows the revision
	}
	return one
}
