package workerd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web"
)

// This file connects a debugger to the inspector of V8 in a process, and stops the clocks while the debugger pauses the Worker's code.
//
// The inspector of workerd listens only on TCP, and asks for no token. The name of the isolate in the path cannot be
// guessed, and on Linux neither can the address, which is one of the 2²⁴ of 127.0.0.0/8.

// Inspection lets a debugger into the processes of a Worker.
type Inspection struct {
	Debugger Debugger
	// Wait is how long a request waits while the Worker is paused. Default: 30 s.
	Wait time.Duration
}

// Debugger gets the inspector of each process of a Worker.
type Debugger interface {
	// Attach is called for each process that has started, before its first request, and returns when breakpoints are set in it.
	Attach(ctx context.Context, p *Inspected)
}

// Inspected is a process with an inspector. It is safe for concurrent use.
type Inspected struct {
	URL     string          // of the inspector's WebSocket
	Scripts []Script        // of the author
	Own     string          // the prefix of the names of our scripts
	Done    <-chan struct{} // closed when the process has ended
	token   string
	pause   *pause
}

// Script is one of the author's modules.
type Script struct {
	Name string // as V8 names it
	Text string
	Map  []byte // source map with sources relative to the site's folder; nil for none
	File string // for a module without a map: the author's file, relative to the site's folder; "" for none
}

// Paused stops the clocks of the process: its code is paused at a place in the author's file, such as "src/worker.ts:12".
func (i *Inspected) Paused(place string) { i.pause.begin(place) }

// Report parses a console line of V8: ours is true for a report of our script. If the report carries a line that the author's code logs,
// text is that line and level its level, such as "warn"; level is "" for any other report.
func (i *Inspected) Report(line string) (level, text string, ours bool) {
	report, ours := strings.CutPrefix(line, i.token)
	if !ours {
		return "", "", false
	}
	var e event
	if json.Unmarshal([]byte(report), &e) != nil || e.Kind != "line" {
		return "", "", true
	}
	if !slices.Contains(levels, e.Level) {
		e.Level = "log"
	}
	return e.Level, e.Text, true
}

// Resumed starts the clocks again, unless the code is paused again at once, as after a step.
func (i *Inspected) Resumed() { i.pause.endSoon() }

// NewInspected is NewWorker for a Worker with a debugger.
func (p Program) NewInspected(ctx context.Context, o pagesruntime.WorkerOptions, i Inspection) (*Worker, error) {
	if i.Wait <= 0 {
		i.Wait = defaultPauseWait
	}
	return p.newWorker(ctx, o, nil, false, &i)
}

const (
	defaultPauseWait = 30 * time.Second
	// stepTime prolongs a pause after the code continues: a step ends one pause and begins the next, and a waiting request must not start
	// between them.
	stepTime = 50 * time.Millisecond
)

// service is the name of the Worker's service in the configuration, and of its isolate for the inspector.
func (w *Worker) service() string {
	if w.inspection == nil {
		return mainService
	}
	return mainService + "-" + w.isolate
}

// inspector is the inspector of one process.
type inspector struct {
	host string
	port chan int // gets the port, or is closed without one
}

// errNoInspector means that a process did not report the port of its inspector.
var errNoInspector = errors.New("workerd did not report the port of its inspector")

// follow reads workerd's control messages; one of them has the port.
func (i *inspector) follow(control io.ReadCloser) {
	defer control.Close()
	told := false
	for lines := bufio.NewScanner(control); lines.Scan(); {
		var event struct {
			Event string `json:"event"`
			Port  int    `json:"port"`
		}
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "listen-inspector" && !told {
			told = true
			i.port <- event.Port
		}
	}
	close(i.port)
}

// attach connects the debugger to the inspector of a process.
func (p *process) attach(ctx context.Context) error {
	w := p.w
	if w.inspection == nil {
		return nil
	}
	port := 0
	select {
	case port = <-p.inspector.port:
	case <-ctx.Done():
		return ctx.Err()
	}
	if port == 0 {
		return errNoInspector
	}
	w.inspection.Debugger.Attach(ctx, &Inspected{
		URL:     fmt.Sprintf("ws://%s:%d/%s", p.inspector.host, port, w.service()),
		Scripts: w.scripts(), Own: w.folder, Done: p.done, token: w.token, pause: &p.pause,
	})
	return nil
}

// scripts are the author's modules.
func (w *Worker) scripts() []Script {
	all := []Script{{Name: w.o.Name, Text: string(w.o.Code), Map: w.o.Map}}
	for name, script := range w.o.Scripts {
		all = append(all, Script{Name: strings.TrimPrefix(name, "./"), Text: script.Text, Map: script.Map})
	}
	for i := range all {
		if w.o.Folder != "" && len(all[i].Map) == 0 {
			all[i].File = path.Join(w.o.Folder, all[i].Name)
		}
	}
	return all
}

// pause is the state of the code of a process: paused by a debugger or running.
type pause struct {
	meter *meter

	mu     sync.Mutex
	place  string
	over   chan struct{} // closed at the end of the pause; nil while code may run
	since  time.Time
	before time.Duration // the time of earlier pauses
	last   *time.Timer   // ends the pause
}

func (p *pause) begin(place string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.place = place
	if p.last != nil {
		p.last.Stop()
		p.last = nil
	}
	if p.over == nil {
		p.over, p.since = make(chan struct{}), time.Now() //nolint:forbidigo // a duration is made of it
		p.meter.hold(true)
	}
}

func (p *pause) endSoon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil || p.last != nil {
		return
	}
	var mine *time.Timer
	mine = time.AfterFunc(stepTime, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.last != mine { // paused again meanwhile
			return
		}
		close(p.over)
		p.before += time.Since(p.since)
		p.over, p.last = nil, nil
		p.meter.hold(false)
	})
	p.last = mine
}

// now returns the place at which the code is paused, and a channel that is closed when it continues; nil while it runs.
func (p *pause) now() (place string, over <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.place, p.over
}

// total is the time for which the code has been paused so far.
func (p *pause) total() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil {
		return p.before
	}
	return p.before + time.Since(p.since)
}

// awaitRun waits while the process is paused. The error is the reason why it stopped waiting.
func (p *process) awaitRun(ctx context.Context) error {
	place, over := p.pause.now()
	if over == nil {
		return nil
	}
	timer := time.NewTimer(p.w.inspection.Wait)
	defer timer.Stop()
	for over != nil {
		select {
		case <-over:
		case <-p.done:
			return nil // a connection notices it
		case <-ctx.Done():
			return web.ErrClientGone
		case <-timer.C:
			return &pagesruntime.Error{
				Kind: pagesruntime.KindPaused, Message: "the Worker is paused at " + place + " in the debugger",
				Fix: "continue it in the debugger, or close the debugger, and send the request again",
			}
		}
		place, over = p.pause.now()
	}
	return nil
}
