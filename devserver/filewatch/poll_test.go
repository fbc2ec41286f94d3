package filewatch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestParsePoll(t *testing.T) {
	for text, want := range map[string]string{
		"on": "on", "true": "on", "1": "on", "off": "off", "0": "off", "False": "off", "auto": "auto", "250": "250", "250ms": "250",
		"20": "20", "60000": "60000",
	} {
		if got, err := ParsePoll(text); err != nil || got.String() != want {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "19", "60001", "-5", "1s", "often", "9999999999999"} {
		if got, err := ParsePoll(text); err == nil {
			t.Errorf("%q is %q, and should be refused", text, got)
		}
	}
}

// TestPauseBoundsTheCost: a longer look has a longer pause after it, within bounds; a person's choice of a pause is kept.
func TestPauseBoundsTheCost(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		pace       pace
		took, want time.Duration
	}{
		{usual, ms, 300 * ms},
		{usual, 40 * ms, 2 * time.Second},
		{usual, time.Minute, 10 * time.Second},
		{rare, ms, time.Second},
		{rare, 40 * ms, 16 * time.Second},
		{Poll{Every: 20 * ms}.pace(), time.Second, 20 * ms},
	} {
		if got := test.pace.pause(test.took); got != test.want {
			t.Errorf("%+v after %v: %v, want %v", test.pace, test.took, got, test.want)
		}
	}
}

// deafWatcher watches with a system that accepts every watch and reports nothing.
func deafWatcher(t *testing.T, o Options) *Watcher {
	t.Helper()
	w := New(o)
	w.fs.Events = make(chan fsnotify.Event) // from the system; nothing arrives here
	return w
}

// TestDeafSystem: polling finds changes without events, including a second change of a file and files in a new folder.
func TestDeafSystem(t *testing.T) {
	dir := siteDir(t)
	public := filepath.Join(dir, "public")
	w := deafWatcher(t, Options{Poll: Poll{Mode: PollAlways, Every: 20 * time.Millisecond}})
	startWatcher(t, w, public)
	page, later := filepath.Join(public, "index.html"), filepath.Join(public, "new", "page.html")
	for round := range 3 {
		write(t, page, fmt.Sprint("round number ", round))
		awaitPath(t, w, page)
	}
	write(t, later, "1")
	awaitPath(t, w, later)
	remove(t, page)
	awaitPath(t, w, page)
}

// TestProbeFindsDeafness: the watcher stops relying on a system that does not report its probe.
func TestProbeFindsDeafness(t *testing.T) {
	dir := siteDir(t)
	public := filepath.Join(dir, "public")
	w := deafWatcher(t, Options{})
	deaf := make(chan struct{}, 1)
	startWatcher(t, w, public)
	if heard, err := reports(t.Context(), t.TempDir()); !heard || err != nil {
		t.Errorf("this system reports: %v, %v", heard, err)
	}
	deaf <- struct{}{}
	other := New(Options{ProbeDir: t.TempDir()})
	other.onDeaf()
	if other.looks == nil || other.looks.pace != usual {
		t.Error("nothing looks at the files of a deaf system")
	}
	other.stopSystem()
}

// TestEventAndLookAreOneChange: a save that the system reported is not reported again by the next look.
func TestEventAndLookAreOneChange(t *testing.T) {
	dir := siteDir(t)
	page := filepath.Join(dir, "public/index.html")
	w := New(Options{Poll: Poll{Mode: PollAlways}})
	defer w.stopSystem()
	w.named, w.list = []string{filepath.Dir(page)}, newWatchList([]string{filepath.Dir(page)})
	w.looks.take(w.list.scan())
	write(t, page, "22")
	w.onEvent(fsnotify.Event{Name: page, Op: fsnotify.Write}, true)
	if got, _ := w.batch.take(isFile); !slices.Equal(got, []string{page}) {
		t.Fatalf("the event reported %v", got)
	}
	w.lookAgain()
	w.looks.next, w.looks.nextAll = time.Time{}, w.now().Add(time.Hour)
	w.lookAgain() // at the warm files
	if !w.batch.empty() {
		t.Errorf("reported again: %v", w.batch.paths)
	}
	write(t, page, "333")
	w.lookAgain()
	if got, _ := w.batch.take(isFile); !slices.Equal(got, []string{page}) {
		t.Errorf("a look at the warm files found %v", got)
	}
}

// TestWarmFilesCoolDown: a changed file is polled often for a while, and no longer.
func TestWarmFilesCoolDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Watcher{now: time.Now, dirs: map[string]bool{}, list: watchList{files: []string{"/site/a"}}}
		w.look(usual)
		w.looks.heat("/site/a", w.now())
		w.lookAtWarm(w.now().Add(warmFor))
		if len(w.looks.warm) != 1 {
			t.Error("it cooled down at once")
		}
		w.lookAtWarm(w.now().Add(warmFor + time.Second))
		if len(w.looks.warm) != 0 {
			t.Error("it never cools down")
		}
		for i := range maxWarm + 50 {
			w.looks.heat(fmt.Sprint("/site/", i), w.now())
		}
		if len(w.looks.warm) != maxWarm {
			t.Errorf("%d files are warm, want %d at most", len(w.looks.warm), maxWarm)
		}
	})
}

// TestPollOffLooksNowhere: with --poll=off the known file system has no effect.
func TestPollOffLooksNowhere(t *testing.T) {
	w := New(Options{Poll: Poll{Mode: PollNever}, ProbeDir: t.TempDir()})
	defer w.stopSystem()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if w.startProbe(ctx) != nil {
		t.Error("it probes")
	}
	w.judge(t.TempDir())
	if w.looks != nil {
		t.Error("it looks")
	}
}
