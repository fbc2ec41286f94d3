package filewatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// waitLimit is the timeout of each wait. No passing test takes that long.
const waitLimit = 20 * time.Second

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// awaitPath waits for a batch with path in it.
func awaitPath(t *testing.T, w *Watcher, path string) {
	t.Helper()
	for found := false; !found; {
		found = slices.Contains(nextChange(t, w).Paths, path)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// age makes a file as old as those of a site when its dev server starts: a file written just before the start counts as changed.
func age(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// siteDir makes a site folder with a manifest, a source file and some assets.
func siteDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"pages.deploy.json": "{}", "src/worker.js": "1", "public/index.html": "1", "public/css/site.css": "1",
		"public/node_modules/x.js": "1", "node_modules/dep/index.js": "1",
	} {
		path := filepath.Join(dir, name)
		write(t, path, content)
		age(t, path)
	}
	return dir
}

// startWatcher runs w on the list and returns when it watches.
func startWatcher(t *testing.T, w *Watcher, list ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	// The test's earlier writes are not changes, whatever the clock of the file system is.
	w.Watch(ctx, list, time.Now().Add(time.Hour))
}

func nextChange(t *testing.T, w *Watcher) Change {
	t.Helper()
	select {
	case c := <-w.out:
		return c
	case <-time.After(waitLimit):
		t.Fatal("no change arrived")
		return Change{}
	}
}

func TestWatcherSees(t *testing.T) {
	type site struct{ manifest, worker, public, dep, missing, later string }
	tests := []struct {
		name string
		do   func(t *testing.T, s site)
		want func(s site) []string
	}{
		{
			"save in place",
			func(t *testing.T, s site) { write(t, s.worker, "22") },
			func(s site) []string { return []string{s.worker} },
		},
		{
			"rename over",
			func(t *testing.T, s site) {
				write(t, s.manifest+".tmp", "{ }")
				rename(t, s.manifest+".tmp", s.manifest)
			},
			func(s site) []string { return []string{s.manifest} },
		},
		{
			"atomic save inside a folder",
			func(t *testing.T, s site) {
				css := filepath.Join(s.public, "css/site.css")
				write(t, css+".1234.tmp", "22")
				rename(t, css+".1234.tmp", css)
			},
			func(s site) []string { return []string{filepath.Join(s.public, "css/site.css")} },
		},
		{
			"editor files beside a save",
			func(t *testing.T, s site) {
				write(t, filepath.Join(s.public, ".index.html.swp"), "x")
				write(t, filepath.Join(s.public, "4913"), "x")
				rename(t, filepath.Join(s.public, "index.html"), filepath.Join(s.public, "index.html~"))
				write(t, filepath.Join(s.public, "index.html"), "22")
			},
			func(s site) []string { return []string{filepath.Join(s.public, "index.html")} },
		},
		{
			"new folders with files",
			func(t *testing.T, s site) { write(t, filepath.Join(s.public, "a/b/c.html"), "1") },
			func(s site) []string { return []string{filepath.Join(s.public, "a/b/c.html")} },
		},
		{
			"a folder moved away",
			func(t *testing.T, s site) {
				rename(t, filepath.Join(s.public, "css"), filepath.Join(s.public, "style"))
			},
			func(s site) []string {
				return []string{filepath.Join(s.public, "css"), filepath.Join(s.public, "style/site.css")}
			},
		},
		{
			"deleted",
			func(t *testing.T, s site) { remove(t, filepath.Join(s.public, "index.html")) },
			func(s site) []string { return []string{filepath.Join(s.public, "index.html")} },
		},
		{
			"a missing file appears",
			func(t *testing.T, s site) { write(t, s.missing, "A=1") },
			func(s site) []string { return []string{s.missing} },
		},
		{
			"a missing folder appears",
			func(t *testing.T, s site) { write(t, filepath.Join(s.later, "0001.sql"), "1") },
			func(s site) []string { return []string{s.later, filepath.Join(s.later, "0001.sql")} },
		},
		{
			"a missing folder appears, and is empty",
			func(t *testing.T, s site) {
				if err := os.MkdirAll(s.later, 0o777); err != nil {
					t.Fatal(err)
				}
			},
			func(s site) []string { return []string{s.later} },
		},
		{
			"a named file in node_modules, and nothing else there",
			func(t *testing.T, s site) {
				write(t, filepath.Join(s.public, "node_modules/x.js"), "22")
				write(t, s.dep, "22")
			},
			func(s site) []string { return []string{s.dep} },
		},
	}
	for _, polled := range []bool{false, true} {
		for _, test := range tests {
			t.Run(fmt.Sprintf("%s/polled=%v", test.name, polled), func(t *testing.T) {
				dir := siteDir(t)
				s := site{
					manifest: filepath.Join(dir, "pages.deploy.json"), worker: filepath.Join(dir, "src/worker.js"),
					public: filepath.Join(dir, "public"), dep: filepath.Join(dir, "node_modules/dep/index.js"),
					missing: filepath.Join(dir, ".dev.vars"), later: filepath.Join(dir, "db/migrations"),
				}
				w := New(Options{})
				w.batch.quiet = 150 * time.Millisecond // one batch on a busy machine, too
				if polled {
					w.poll = Poll{Every: 20 * time.Millisecond}
					w.fallBack(errors.New("no watches left"))
				}
				startWatcher(t, w, s.manifest, s.worker, s.public, s.dep, s.missing, s.later)
				test.do(t, s)
				want := test.want(s)
				var got []string
				if polled {
					want = slices.DeleteFunc(want, isGoneDir) // polling sees files only
				}
				for len(missingFrom(got, want)) > 0 {
					got = append(got, nextChange(t, w).Paths...)
				}
				for _, path := range got {
					if !slices.Contains(want, path) && !polled {
						t.Errorf("also reported %s", path)
					}
				}
			})
		}
	}
}

// TestWatcherTakesNoFolderForAFile: a folder of the list may appear between the reading of the list and its registration. The system then
// reports it; as a new file it would count as one that appeared and disappeared.
func TestWatcherTakesNoFolderForAFile(t *testing.T) {
	later := filepath.Join(siteDir(t), "db", "migrations")
	file := filepath.Join(filepath.Dir(later), "schema.sql")
	write(t, file, "1")
	w := New(Options{})
	defer w.stopSystem()
	w.named, w.list = []string{file}, watchList{files: []string{file, later}} // as if it had been missing a moment ago
	if err := os.Mkdir(later, 0o777); err != nil {
		t.Fatal(err)
	}
	var found []string
	w.sync(func(path string, _ fs.DirEntry) { found = append(found, path) })
	if !slices.Equal(found, []string{file}) || !w.dirs[filepath.Dir(later)] {
		t.Errorf("new files %q, registered %v", found, w.dirs)
	}
}

// isGoneDir distinguishes the folder of the table's move from files.
func isGoneDir(path string) bool { return filepath.Ext(path) == "" && filepath.Base(path) == "css" }

func missingFrom(got, want []string) []string {
	return slices.DeleteFunc(slices.Clone(want), func(path string) bool { return slices.Contains(got, path) })
}

// A build tool that empties its output folder and fills it again must not
// leave the watcher behind on the old folder.
func TestWatcherFollowsRecreatedFolder(t *testing.T) {
	dir := siteDir(t)
	public := filepath.Join(dir, "public")
	w := New(Options{})
	startWatcher(t, w, public)
	page := filepath.Join(public, "index.html")
	for round := range 5 {
		remove(t, public)
		write(t, page, fmt.Sprint("round ", round))
		awaitPath(t, w, page)
	}
	nested := filepath.Join(public, "deep/er/page.html")
	write(t, nested, "1")
	awaitPath(t, w, nested)
	write(t, nested, "22")
	awaitPath(t, w, nested)
}

func TestWatcherStormIsOneBatch(t *testing.T) {
	dir := siteDir(t)
	public := filepath.Join(dir, "public")
	w := New(Options{})
	w.batch.storm = 500 * time.Millisecond // a loaded machine may pause in the middle
	w.batch.quiet = w.batch.storm
	w.batch.most = time.Minute
	startWatcher(t, w, public)
	var want []string
	for i := range 1000 {
		path := filepath.Join(public, "gen", fmt.Sprintf("%04d.html", i))
		write(t, path, "x")
		want = append(want, path)
	}
	if got := nextChange(t, w).Paths; !slices.Equal(got, want) {
		t.Errorf("the first batch has %d paths, want %d", len(got), len(want))
	}
	w.Watch(t.Context(), []string{public}, time.Now())
	select {
	case c := <-w.out:
		t.Errorf("a second batch: %v", c.Paths)
	default:
	}
}

// Later changes join a batch that is not taken yet.
func TestWatcherMergesWhileBuilding(t *testing.T) {
	dir := siteDir(t)
	public := filepath.Join(dir, "public")
	w := New(Options{})
	startWatcher(t, w, public)
	a, b := filepath.Join(public, "a.html"), filepath.Join(public, "b.html")
	write(t, a, "1")
	first := nextChange(t, w)
	write(t, b, "1")
	second := nextChange(t, w)
	if !slices.Equal(first.Paths, []string{a}) || !slices.Equal(second.Paths, []string{b}) {
		t.Errorf("batches %v and %v", first.Paths, second.Paths)
	}
	merged := Change{Paths: []string{b}}.merge([]string{a, b}, false)
	if !slices.Equal(merged.Paths, []string{a, b}) || merged.All || merged.empty() {
		t.Errorf("merged = %+v", merged)
	}
}

func TestWatcherOverflowLooksAtEverything(t *testing.T) {
	dir := siteDir(t)
	w := New(Options{})
	w.named = []string{filepath.Join(dir, "public")}
	w.onError(fsnotify.ErrEventOverflow)
	if w.batch.empty() || !w.batch.all || w.fs == nil {
		t.Errorf("after an overflow: all = %v, polling = %v", w.batch.all, w.fs == nil)
	}
	w.onError(errors.New("the disk is on fire"))
	if w.fs != nil || w.looks == nil {
		t.Error("an unknown failure did not fall back to polling")
	}
	w.lookAgain()
}

// TestMoreWatches: the fix names a setting that the system has.
func TestMoreWatches(t *testing.T) {
	for system, want := range map[string]string{"linux": "inotify", "darwin": "ulimit", "freebsd": "ulimit", "windows": "disk"} {
		t.Run(system, func(t *testing.T) {
			if got := moreWatches(system); !strings.Contains(got, want) {
				t.Errorf("%s: %s", system, got)
			}
		})
	}
	var said bytes.Buffer
	New(Options{Logger: slog.New(slog.NewTextHandler(&said, nil))}).fallBack(errors.New("no watches left"))
	if !strings.Contains(said.String(), moreWatches(runtime.GOOS)) {
		t.Errorf("got %s", said.String())
	}
}

// The watcher reports a file that was written during the build that returned the list.
func TestWatcherSeesChangesBeforeItWatched(t *testing.T) {
	for _, polled := range []bool{false, true} {
		dir := siteDir(t)
		public := filepath.Join(dir, "public")
		began := time.Now()
		page := filepath.Join(public, "index.html")
		write(t, page, "22")
		if err := os.Chtimes(page, began.Add(time.Second), began.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		old := filepath.Join(public, "css/site.css")
		if err := os.Chtimes(old, began.Add(-time.Hour), began.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		w := New(Options{})
		if polled {
			w.fallBack(errors.New("no watches left"))
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		w.Watch(ctx, []string{public}, began)
		if got := nextChange(t, w).Paths; !slices.Equal(got, []string{page}) {
			t.Errorf("polled=%v: changed %v, want %s", polled, got, page)
		}
		stop()
		<-done
	}
}
