package devserver

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// pollEvery is the interval of the fallback for systems that refuse to watch.
	pollEvery = 700 * time.Millisecond
	// clockSlack covers file systems that stamp files with a clock a tick behind.
	clockSlack = 10 * time.Millisecond
	// syncTries bounds how often a tree that keeps changing is read again.
	syncTries = 10
)

// change is one settled batch. all means that any file may have changed.
type change struct {
	paths []string
	all   bool
}

func (c change) empty() bool { return !c.all && len(c.paths) == 0 }

// merge adds a later batch.
func (c change) merge(paths []string, all bool) change {
	c.paths = append(c.paths, paths...)
	slices.Sort(c.paths)
	c.paths = slices.Compact(c.paths)
	c.all = c.all || all
	return c
}

// watcher turns the system's events about folders into settled batches of the files that matter. All its fields belong
// to the goroutine in run.
type watcher struct {
	now    func() time.Time
	logger *slog.Logger
	fs     *fsnotify.Watcher // nil once polling
	poll   time.Duration

	named  []string // as the Builder gave it
	list   watchList
	dirs   map[string]bool  // registered with the system
	stamps map[string]stamp // while polling
	batch  batch
	held   change // settled, not yet delivered

	lists chan watchRequest
	out   chan change // settled batches; while nothing receives them, they are merged
}

type watchRequest struct {
	paths []string
	since time.Time
	done  chan struct{} // closed once the list is being watched
}

// newWatcher makes a watcher that watches nothing yet. When the system has no watches left, it polls.
func newWatcher(now func() time.Time, logger *slog.Logger) *watcher {
	w := &watcher{
		now: now, logger: logger, poll: pollEvery,
		batch: batch{quiet: settleQuiet, storm: settleStorm, most: settleMost},
		dirs:  map[string]bool{},
		lists: make(chan watchRequest), out: make(chan change),
	}
	system, err := fsnotify.NewWatcher()
	if err != nil {
		w.fallBack(err)
		return w
	}
	w.fs = system
	return w
}

// watch replaces the list, and returns when the new one is being watched. Files in newly watched folders that are younger
// than since count as changed: they were written during the build that reported the list.
func (w *watcher) watch(ctx context.Context, paths []string, since time.Time) {
	req := watchRequest{paths, since, make(chan struct{})}
	select {
	case w.lists <- req:
	case <-ctx.Done():
		return
	}
	<-req.done
}

// run serves until the context ends.
func (w *watcher) run(ctx context.Context) {
	defer w.stopSystem()
	settled := time.NewTimer(time.Hour)
	defer settled.Stop()
	poll := time.NewTicker(w.poll)
	defer poll.Stop()
	for {
		if !w.batch.empty() {
			settled.Reset(max(0, w.batch.due().Sub(w.now())))
		}
		var out chan<- change
		if w.batch.empty() && !w.held.empty() {
			out = w.out
		}
		var events <-chan fsnotify.Event
		var failures <-chan error
		tick := poll.C
		if w.fs != nil {
			events, failures, tick = w.fs.Events, w.fs.Errors, nil
		}
		select {
		case <-ctx.Done():
			return
		case req := <-w.lists:
			w.replace(req)
			close(req.done)
		case ev, ok := <-events:
			w.onEvent(ev, ok)
		case err := <-failures:
			w.onError(err)
		case <-tick:
			w.pollFiles()
		case <-settled.C:
			w.held = w.held.merge(w.batch.take(isFile))
		case out <- w.held:
			w.held = change{}
		}
	}
}

func (w *watcher) replace(req watchRequest) {
	named := slices.Sorted(slices.Values(req.paths))
	if w.named != nil && slices.Equal(named, w.named) {
		return // events and ticks keep up with it
	}
	before := w.list
	w.named, w.list = named, newWatchList(named)
	since := req.since.Add(-clockSlack)
	w.sync(func(path string, d fs.DirEntry) {
		if info, err := d.Info(); err == nil && info.ModTime().After(since) {
			w.batch.add(path, false, w.now())
		}
	})
	if w.fs == nil {
		w.compare(before, since)
	}
	w.addFolders(before)
}

// sync registers every folder of the list and unregisters the others. It calls onNew for each file in folders that were
// not registered before.
func (w *watcher) sync(onNew func(path string, d fs.DirEntry)) {
	if w.fs == nil {
		return
	}
	before := w.dirs
	w.dirs = map[string]bool{}
	w.registerParents(before)
	for _, path := range w.list.files {
		// The system reports a folder that appeared since its parent was registered.
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && !before[filepath.Dir(path)] {
			onNew(path, fs.FileInfoToDirEntry(info))
		}
	}
	for _, root := range w.list.roots {
		walk(root, func(dir string) { w.register(dir, before) }, func(path string, d fs.DirEntry) {
			if !before[filepath.Dir(path)] {
				onNew(path, d)
			}
		})
	}
	for dir := range before {
		if !w.dirs[dir] {
			w.unregister(dir)
		}
	}
}

// registerParents watches above each path of the list. The system does not report what appeared before a folder was
// registered, so it reads the list again until nothing did.
func (w *watcher) registerParents(before map[string]bool) {
	for range syncTries {
		parents := w.list.parents()
		for _, dir := range parents {
			w.register(dir, before)
		}
		now := newWatchList(w.named)
		if slices.Equal(now.roots, w.list.roots) && slices.Equal(now.parents(), parents) {
			return
		}
		w.list = now
	}
}

// register asks the system to report on one folder, unless it already does.
func (w *watcher) register(dir string, before map[string]bool) {
	if w.fs == nil || w.dirs[dir] {
		return
	}
	if !before[dir] {
		err := w.fs.Add(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return // it vanished; its parent reports that
		}
		if err != nil {
			w.fallBack(err)
			return
		}
	}
	w.dirs[dir] = true
}

func (w *watcher) unregister(dir string) {
	if w.fs != nil {
		_ = w.fs.Remove(dir) // fails when the folder is gone, and its watch with it
	}
}

func (w *watcher) onEvent(ev fsnotify.Event, ok bool) {
	if !ok {
		w.fallBack(errors.New("the system ended the watch"))
		return
	}
	path, created := filepath.Clean(ev.Name), ev.Has(fsnotify.Create)
	gone := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	if !created && !gone && !ev.Has(fsnotify.Write) {
		return // access rights and times: no content
	}
	if gone {
		w.forget(path)
	}
	covered := w.list.covers(path)
	switch {
	case (created || gone) && w.list.shapedBy(path):
		w.resync()
	case created && covered && isDir(path): // a new folder with all its content
		walk(path, func(dir string) { w.register(dir, nil) }, func(file string, _ fs.DirEntry) {
			w.batch.add(file, true, w.now())
		})
	}
	if covered && !isDir(path) {
		w.batch.add(path, created, w.now())
	}
}

// forget drops a folder that went away, and those below it: a renamed folder keeps its watch in the system, under its
// old name.
func (w *watcher) forget(path string) {
	if !w.dirs[path] {
		return
	}
	for dir := range w.dirs {
		if _, below := relativeTo(path, dir); below {
			w.unregister(dir)
			delete(w.dirs, dir)
		}
	}
}

// resync reads the list again after a path on it, or above it, came or went.
func (w *watcher) resync() {
	before := w.list
	w.list = newWatchList(w.named)
	w.sync(func(path string, _ fs.DirEntry) { w.batch.add(path, true, w.now()) })
	w.addFolders(before)
}

// addFolders adds the folders of the list that did not exist before: an empty one has no file that would tell of it.
func (w *watcher) addFolders(before watchList) {
	for _, root := range w.list.roots {
		if slices.Contains(before.files, root) {
			w.batch.add(root, false, w.now())
		}
	}
}

func (w *watcher) onError(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.fallBack(err)
		return
	}
	w.logger.Warn("more files changed than the system reports: looking at all of them")
	w.resync()
	w.batch.addAll(w.now())
}

// moreWatches says how to have a system watch more: each counts something else.
func moreWatches(system string) string {
	switch system {
	case "linux":
		return "raise the system's limit of watches (fs.inotify.max_user_watches)"
	case "windows":
		return "keep the site on a disk of this machine: not every network share tells of changes"
	}
	return "raise the limit of open files (ulimit -n): each file in a watched folder is one"
}

// fallBack gives up on the system and polls from now on.
func (w *watcher) fallBack(err error) {
	w.stopSystem()
	w.fs = nil
	w.dirs = map[string]bool{}
	w.logger.Warn("cannot watch folders: looking for changes every "+w.poll.String(),
		"error", err, "fix", moreWatches(runtime.GOOS))
	w.stamps = w.list.scan()
	if w.named != nil {
		w.batch.addAll(w.now())
	}
}

func (w *watcher) stopSystem() {
	if w.fs != nil {
		_ = w.fs.Close() // it only reads
	}
}

// pollFiles looks for changes, while polling.
func (w *watcher) pollFiles() {
	if w.named != nil {
		before := w.list
		w.list = newWatchList(w.named)
		w.compare(before, time.Time{})
		w.addFolders(before)
	}
}

// compare stamps all files and adds those that differ from the last time. Of files that the list did not cover then,
// only those younger than since count.
func (w *watcher) compare(before watchList, since time.Time) {
	old := w.stamps
	w.stamps = w.list.scan()
	for path, now := range w.stamps {
		was, known := old[path]
		if (known && was != now) || (!known && (before.covers(path) || now.modified.After(since))) {
			w.batch.add(path, !known, w.now())
		}
	}
	for path := range old {
		if _, still := w.stamps[path]; !still && w.list.covers(path) {
			w.batch.add(path, false, w.now())
		}
	}
}

// Follow calls read, and calls it again after every settled batch of changes to the paths that the last call returned:
// files and folders, absolute, missing ones included. Folders count with all their content. It is the watcher of the dev
// server for a command without a server.
//
// Follow ends with the context, whose cause it returns, or with read's error. Calls to read never overlap.
func Follow(
	ctx context.Context, now func() time.Time, logger *slog.Logger,
	read func(ctx context.Context) (watch []string, err error),
) error {
	ctx, stop := context.WithCancel(ctx)
	w := newWatcher(now, logger)
	var running sync.WaitGroup
	running.Go(func() { w.run(ctx) })
	defer running.Wait()
	defer stop()
	for {
		start := now()
		watch, err := read(ctx)
		if err != nil {
			return err
		}
		w.watch(ctx, watch, start)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.out:
		}
	}
}

const (
	// settleQuiet is how long the disk must be quiet after a save, and settleStorm after a burst of more than stormSize
	// events: a checkout or a generator pauses longer between two files than an editor does.
	settleQuiet = 15 * time.Millisecond
	settleStorm = 120 * time.Millisecond
	stormSize   = 16
	// settleMost is how long a disk that never gets quiet can delay a build.
	settleMost = 3 * time.Second
)

// batch collects changes until they have settled. It has no clock: the caller passes the time of each change.
type batch struct {
	quiet, storm, most time.Duration

	paths       map[string]bool // the value: the path first appeared within this batch
	events      int
	all         bool
	first, last time.Time
}

// add adds a change of one path.
func (b *batch) add(path string, created bool, now time.Time) {
	if b.paths == nil {
		b.paths = map[string]bool{}
	}
	if _, known := b.paths[path]; !known {
		b.paths[path] = created
	}
	b.touch(now)
}

// addAll notes that any file may have changed.
func (b *batch) addAll(now time.Time) {
	b.all = true
	b.touch(now)
}

func (b *batch) touch(now time.Time) {
	if b.events == 0 {
		b.first = now
	}
	b.events++
	b.last = now
}

func (b *batch) empty() bool { return b.events == 0 }

// due returns when the batch has settled, if nothing more comes.
func (b *batch) due() time.Time {
	wait := b.quiet
	if b.events > stormSize {
		wait = b.storm
	}
	settled, latest := b.last.Add(wait), b.first.Add(b.most)
	if latest.Before(settled) {
		return latest
	}
	return settled
}

// take empties the batch and returns its paths, sorted, without files that came and went within it, such as editors'
// temporary files. all means that any file may have changed.
func (b *batch) take(exists func(path string) bool) (changed []string, all bool) {
	for path, created := range b.paths {
		if !created || exists(path) {
			changed = append(changed, path)
		}
	}
	all = b.all
	b.paths, b.events, b.all = nil, 0, false
	slices.Sort(changed)
	return changed, all
}
