package filewatch

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// This file polls the files: often those that changed lately, and all of them as often as a small share of one processor allows.

// PollMode chooses when files are polled.
type PollMode int

// The modes. The zero value is PollWhereDeaf.
const (
	PollWhereDeaf PollMode = iota // where the file system is known, or is found, to report too little
	PollAlways
	PollNever // unless the system cannot watch at all
)

// Poll chooses when and how often files are polled.
type Poll struct {
	Mode PollMode
	// Every is the pause between two looks, with PollAlways. Default: a pause that adapts to the cost of a look.
	Every time.Duration
}

// The bounds of a pause that a person chooses.
const (
	leastEvery = 20 * time.Millisecond
	mostEvery  = time.Minute
)

// ParsePoll reads the value of a flag: "on", "off", their usual synonyms, "auto", or milliseconds.
func ParsePoll(text string) (Poll, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1":
		return Poll{Mode: PollAlways}, nil
	case "off", "false", "no", "0":
		return Poll{Mode: PollNever}, nil
	case "auto":
		return Poll{}, nil
	}
	ms, err := strconv.ParseInt(strings.TrimSuffix(strings.ToLower(text), "ms"), 10, 32)
	every := time.Duration(ms) * time.Millisecond
	if err != nil || every < leastEvery || every > mostEvery {
		return Poll{}, fmt.Errorf("it is on, off, auto, or a number of milliseconds from %d to %d",
			leastEvery.Milliseconds(), mostEvery.Milliseconds())
	}
	return Poll{Mode: PollAlways, Every: every}, nil
}

// String is the inverse of ParsePoll.
func (p Poll) String() string {
	switch {
	case p.Mode == PollNever:
		return "off"
	case p.Mode == PollWhereDeaf:
		return "auto"
	case p.Every > 0:
		return strconv.FormatInt(p.Every.Milliseconds(), 10)
	}
	return "on"
}

// pace limits the cost of looks.
type pace struct {
	least, most time.Duration // the pause between two looks
	share       int           // the inverse of the share of time for looks; 0 means no limit
}

var (
	// usual is the pace on file systems on which other machines make changes.
	usual = pace{least: 300 * time.Millisecond, most: 10 * time.Second, share: 50}
	// rare is the pace on an overlay, which reports all changes except those of its lower layers.
	rare = pace{least: time.Second, most: 20 * time.Second, share: 400}
)

func (p Poll) pace() pace {
	if p.Every > 0 {
		return pace{least: p.Every, most: p.Every}
	}
	return usual
}

// pause returns the pause after a look of the given duration.
func (p pace) pause(took time.Duration) time.Duration {
	return min(max(p.least, took*time.Duration(p.share)), p.most)
}

const (
	// warmFor is how long a changed file is polled more often than the others, and maxWarm the number of such files.
	warmFor = 15 * time.Minute
	maxWarm = 200
	// slowLook is the pause between two looks at all files from which the log names the setting that shortens it.
	slowLook = 3 * time.Second
)

// looks is the state of polling. It belongs to the goroutine of its Watcher.
type looks struct {
	pace    pace
	stamps  map[string]stamp     // of all files of the list, at the last look
	warm    map[string]time.Time // files that changed, and when
	next    time.Time            // when to look at the warm ones
	nextAll time.Time            // when to look at all
	told    bool                 // the log has mentioned the long pause
}

// look starts to poll the files, at a pace. If polling runs already, the faster pace counts.
func (w *Watcher) look(p pace) {
	if w.looks != nil {
		if p.least < w.looks.pace.least {
			w.looks.pace = p
		}
		return
	}
	w.looks = &looks{pace: p, warm: map[string]time.Time{}}
	w.looks.take(w.list.scan())
}

// take sets the stamps of all files.
func (l *looks) take(stamps map[string]stamp) { l.stamps = stamps }

// due returns the time of the next look.
func (l *looks) due() time.Time {
	if len(l.warm) > 0 && l.next.Before(l.nextAll) {
		return l.next
	}
	return l.nextAll
}

// stamp records the present state of a file: the system reported its change.
func (l *looks) stamp(path string, now time.Time) {
	l.heat(path, now)
	if is, there := stampAt(path); there {
		l.stamps[path] = is
	} else {
		delete(l.stamps, path)
	}
}

// heat makes a file polled often for a while.
func (l *looks) heat(path string, now time.Time) {
	if _, known := l.warm[path]; known || len(l.warm) < maxWarm {
		l.warm[path] = now
	}
}

// lookAgain looks at the files that are due.
func (w *Watcher) lookAgain() {
	l, start := w.looks, w.now()
	if start.Before(l.nextAll) {
		w.lookAtWarm(start)
		l.next = w.now().Add(l.pace.pause(w.now().Sub(start)))
		return
	}
	if w.named != nil {
		before := w.list
		w.list = newWatchList(w.named)
		w.compare(before, time.Time{})
		w.addFolders(before)
		for _, root := range w.list.moved(before) { // its new files may have the sizes and times of the old ones
			w.batch.add(root, false, w.now())
		}
	}
	end := w.now()
	pause := l.pace.pause(end.Sub(start))
	l.nextAll, l.next = end.Add(pause), end.Add(l.pace.least)
	if pause >= slowLook && !l.told && w.poll.Every == 0 && l.pace != rare {
		l.told = true
		w.logger.Warn(fmt.Sprintf("there are %d files to look at for changes: a file that was not edited lately may take %s to be seen",
			len(l.stamps), pause.Round(time.Second)), "fix",
			"set a pause in milliseconds, such as --poll=1000, at the cost of more of the processor")
	}
}

// lookAtWarm looks at the files that changed lately.
func (w *Watcher) lookAtWarm(now time.Time) {
	l := w.looks
	maps.DeleteFunc(l.warm, func(_ string, at time.Time) bool { return now.Sub(at) > warmFor })
	for path := range l.warm {
		if !w.list.covers(path) {
			delete(l.warm, path)
			continue
		}
		was, known := l.stamps[path]
		if is, there := stampAt(path); there != known || is != was {
			w.batch.add(path, !known, now)
			l.stamp(path, now)
		}
	}
}

// compare stamps all files and adds those that differ from the last time. Of files that the list did not cover at that time, only those
// younger than since count.
func (w *Watcher) compare(before watchList, since time.Time) {
	old := w.looks.stamps
	w.looks.take(w.list.scan())
	now := w.now()
	add := func(path string, created bool) {
		w.batch.add(path, created, now)
		w.looks.heat(path, now)
	}
	for path, is := range w.looks.stamps {
		was, known := old[path]
		if (known && was != is) || (!known && (before.covers(path) || is.modified.After(since))) {
			add(path, !known)
		}
	}
	for path := range old {
		if _, still := w.looks.stamps[path]; !still && w.list.covers(path) {
			add(path, false)
		}
	}
}

// judge starts to poll the files if a folder is on a file system with unreported changes.
func (w *Watcher) judge(dir string) {
	if w.poll.Mode != PollWhereDeaf {
		return
	}
	kind, p := fileSystemOf(dir)
	if kind == "" || w.looks != nil && w.looks.pace.least <= p.least {
		return
	}
	w.look(p)
	w.logger.Info("this file system ("+kind+") does not report changes made elsewhere: looking for them every "+
		p.least.String()+" or less often", "folder", dir)
}
