// Package filewatch finds which of a site's files come, go and change, so that a build can follow.
//
// Input: absolute paths of files and folders, missing ones included. Output: settled batches of those that changed ([Change]). The system's
// events are the first source. Some file systems do not report changes by other machines: network shares, folders of a host in a container
// or a virtual machine, the lower layers of an overlay. There, and if the system refuses to watch or reports nothing at all, the package
// polls the files, too, at an interval that adapts to the cost of a look (poll.go).
//
// There are no errors: a folder that cannot be watched is polled, and the log mentions it. [Watcher.Watch] and [Watcher.Changes] are safe
// for concurrent use beside [Watcher.Run]. The package reads no contents of files, and writes only its probe, in a folder that the caller
// names.
package filewatch

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
	// clockSlack covers file systems whose clock for time stamps is a tick late.
	clockSlack = 10 * time.Millisecond
	// syncTries bounds the number of times that a changing tree is read again.
	syncTries = 10
)

// Change is one settled batch.
type Change struct {
	Paths []string // absolute, sorted
	All   bool     // any file may have changed
}

func (c Change) empty() bool { return !c.All && len(c.Paths) == 0 }

// merge adds a later batch.
func (c Change) merge(paths []string, all bool) Change {
	c.Paths = append(c.Paths, paths...)
	slices.Sort(c.Paths)
	c.Paths = slices.Compact(c.Paths)
	c.All = c.All || all
	return c
}

// Options configure a Watcher. The zero value works.
type Options struct {
	// Poll says when to look at the files themselves. Default: where events are missing.
	Poll Poll
	// ProbeDir is a folder in which Run may make and remove a file ".probe-*", to learn whether the system reports it.
	// Default: it does not try.
	ProbeDir string
	Now      func() time.Time // default time.Now
	Logger   *slog.Logger     // default none
}

// Watcher turns the system's events about folders into settled batches of the files that matter. All its fields belong
// to the goroutine in Run.
type Watcher struct {
	now    func() time.Time
	logger *slog.Logger
	poll   Poll
	probe  string            // folder of the probe, "" for none
	fs     *fsnotify.Watcher // nil where the system cannot watch
	looks  *looks            // nil while events are enough

	named []string // as the caller gave it
	list  watchList
	dirs  map[string]bool // registered with the system
	batch batch
	held  Change // settled, not yet delivered

	lists chan watchRequest
	out   chan Change // settled batches; while nothing receives them, they are merged
}

type watchRequest struct {
	paths []string
	since time.Time
	done  chan struct{} // closed once the list is being watched
}

// New makes a Watcher that watches nothing yet.
func New(o Options) *Watcher {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{
		now: o.Now, logger: o.Logger, poll: o.Poll, probe: o.ProbeDir,
		batch: batch{quiet: settleQuiet, storm: settleStorm, most: settleMost},
		dirs:  map[string]bool{},
		lists: make(chan watchRequest), out: make(chan Change),
	}
	if o.Poll.Mode == PollAlways {
		w.look(o.Poll.pace())
	}
	system, err := fsnotify.NewWatcher()
	if err != nil {
		w.fallBack(err)
		return w
	}
	w.fs = system
	return w
}

// Changes delivers the settled batches. While nothing receives them, they are merged.
func (w *Watcher) Changes() <-chan Change { return w.out }

// Watch replaces the list, and returns when the new one is being watched. Files in newly watched folders that are younger than since count
// as changed: they were written during the build that reported the list.
func (w *Watcher) Watch(ctx context.Context, paths []string, since time.Time) {
	req := watchRequest{paths, since, make(chan struct{})}
	select {
	case w.lists <- req:
	case <-ctx.Done():
		return
	}
	<-req.done
}

// Run serves until the context ends.
func (w *Watcher) Run(ctx context.Context) {
	defer w.stopSystem()
	settled := time.NewTimer(time.Hour)
	defer settled.Stop()
	tick := time.NewTimer(time.Hour)
	defer tick.Stop()
	deaf := w.startProbe(ctx)
	for {
		if !w.batch.empty() {
			settled.Reset(max(0, w.batch.due().Sub(w.now())))
		}
		if w.looks != nil {
			tick.Reset(max(0, w.looks.due().Sub(w.now())))
		}
		var out chan<- Change
		if w.batch.empty() && !w.held.empty() {
			out = w.out
		}
		var events <-chan fsnotify.Event
		var failures <-chan error
		if w.fs != nil {
			events, failures = w.fs.Events, w.fs.Errors
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
		case <-deaf:
			deaf = nil
			w.onDeaf()
		case <-tick.C:
			w.lookAgain()
		case <-settled.C:
			w.held = w.held.merge(w.batch.take(isFile))
		case out <- w.held:
			w.held = Change{}
		}
	}
}

func (w *Watcher) replace(req watchRequest) {
	named := slices.Sorted(slices.Values(req.paths))
	if w.named != nil && slices.Equal(named, w.named) {
		return // events and looks update it
	}
	before := w.list
	w.named, w.list = named, newWatchList(named)
	since := req.since.Add(-clockSlack)
	seen := w.sync(func(path string, d fs.DirEntry) {
		if info, err := d.Info(); err == nil && info.ModTime().After(since) {
			w.add(path, false)
		}
	})
	switch {
	case w.fs == nil || w.looks != nil && !seen:
		w.compare(before, since)
	case w.looks != nil:
		w.looks.take(w.list.scan()) // w.add has the new files already
	}
	w.addFolders(before)
}

// sync registers every folder of the list and unregisters the others. It calls onNew for each file in folders that were
// not registered before. It reports whether the system watches.
func (w *Watcher) sync(onNew func(path string, d fs.DirEntry)) bool {
	if w.fs == nil {
		return false
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
	return w.fs != nil
}

// registerParents watches above each path of the list. The system does not report files that appeared before the folder was registered, so
// it reads the list again until none appear.
func (w *Watcher) registerParents(before map[string]bool) {
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
func (w *Watcher) register(dir string, before map[string]bool) {
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
		w.judge(dir)
	}
	w.dirs[dir] = true
}

func (w *Watcher) unregister(dir string) {
	if w.fs != nil {
		_ = w.fs.Remove(dir) // it fails if the folder is gone, and its watch with it
	}
}

func (w *Watcher) onEvent(ev fsnotify.Event, ok bool) {
	if !ok {
		w.fallBack(errors.New("the system ended the watch"))
		return
	}
	path, created := filepath.Clean(ev.Name), ev.Has(fsnotify.Create)
	gone := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	if !created && !gone && !ev.Has(fsnotify.Write) {
		return // access rights and times, not contents
	}
	if gone {
		w.forget(path)
	}
	covered := w.list.covers(path)
	switch {
	case (created || gone) && w.list.shapedBy(path):
		w.resync()
	case created && covered && isDir(path): // a new folder with all its content
		walk(path, func(dir string) { w.register(dir, nil) }, func(file string, _ fs.DirEntry) { w.add(file, true) })
	}
	if covered && !isDir(path) {
		w.add(path, created)
	}
}

// add adds a change that the system reported. A later look does not report it again.
func (w *Watcher) add(path string, created bool) {
	w.batch.add(path, created, w.now())
	if w.looks != nil {
		w.looks.stamp(path, w.now())
	}
}

// forget drops a folder that disappeared, and those below it: the system keeps the watch of a renamed folder, under the old name.
func (w *Watcher) forget(path string) {
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

// resync reads the list again after a path on it, or above it, appeared or disappeared.
func (w *Watcher) resync() {
	before := w.list
	w.list = newWatchList(w.named)
	for _, root := range w.list.moved(before) {
		w.forget(root) // the system still reports on the former target of the link
	}
	w.sync(func(path string, _ fs.DirEntry) { w.add(path, true) })
	w.addFolders(before)
}

// addFolders adds the folders of the list that did not exist before: an empty folder has no file that would show it.
func (w *Watcher) addFolders(before watchList) {
	for _, root := range w.list.roots {
		if slices.Contains(before.files, root) {
			w.batch.add(root, false, w.now())
		}
	}
}

func (w *Watcher) onError(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.fallBack(err)
		return
	}
	w.logger.Warn("more files changed than the system reports: looking at all of them")
	w.resync()
	w.batch.addAll(w.now())
}

// moreWatches is the advice on how to watch more folders; each system has its own limit.
func moreWatches(system string) string {
	switch system {
	case "linux":
		return "raise the system's limit of watches (fs.inotify.max_user_watches)"
	case "windows":
		return "keep the site on a disk of this machine: not every network share reports changes"
	}
	return "raise the limit of open files (ulimit -n): each file in a watched folder is one"
}

// fallBack gives up on the system and polls the files from now on.
func (w *Watcher) fallBack(err error) {
	w.stopSystem()
	w.fs = nil
	w.dirs = map[string]bool{}
	w.look(w.poll.pace())
	w.logger.Warn("cannot watch folders: looking for changes every "+w.looks.pace.least.String(),
		"error", err, "fix", moreWatches(runtime.GOOS))
	if w.named != nil {
		w.batch.addAll(w.now())
	}
}

func (w *Watcher) stopSystem() {
	if w.fs != nil {
		_ = w.fs.Close() // it only reads
	}
}

// Follow calls read, and calls it again after every settled batch of changes to the paths that the last call returned:
// files and folders, absolute, missing ones included. Folders count with all their content.
//
// Follow ends with the context, whose cause it returns, or with read's error. Calls to read never overlap.
func Follow(ctx context.Context, o Options, read func(ctx context.Context) (watch []string, err error)) error {
	ctx, stop := context.WithCancel(ctx)
	w := New(o)
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	defer running.Wait()
	defer stop()
	for {
		start := w.now()
		watch, err := read(ctx)
		if err != nil {
			return err
		}
		w.Watch(ctx, watch, start)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.out:
		}
	}
}
