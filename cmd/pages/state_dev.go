package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// running is what a dev server says of itself in its state folder.
type running struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
	// Token opens the tools under /__pages/api/ that change something.
	Token string `json:"token"`
}

// Port is the port a server answers on.
func (r running) Port() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Port()
}

// lockDev makes sure that one dev server runs on the state. unlock removes what
// announce wrote.
func (s *state) lockDev() (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.dir, devLock))
	ok, err := lock.TryLock()
	for range devLockTries { // who looks whether somebody runs holds it for a moment
		if ok || err != nil {
			break
		}
		time.Sleep(lockPoll)
		ok, err = lock.TryLock()
	}
	if err != nil {
		return nil, s.unusable(err)
	}
	if !ok {
		return nil, resourceError("already-running", s.whoRuns(), "use that one, stop it, or give this one its own --state-dir", nil)
	}
	_ = os.Remove(filepath.Join(s.dir, devFile)) // of one that was killed: nobody is asked there
	return func() {
		// The lock ends with the process in any case.
		_ = os.Remove(filepath.Join(s.dir, devFile))
		_ = lock.Unlock()
	}, nil
}

// devLockTries is how often a lock that is held is tried again.
const devLockTries = 3

func (s *state) whoRuns() string {
	r, ok := s.announced()
	if !ok {
		return fmt.Sprintf("another pages dev uses the state folder %s", quotedPath(s.dir))
	}
	return fmt.Sprintf("another pages dev uses the state folder %s: process %d at %s", quotedPath(s.dir), r.PID, r.URL)
}

// announce writes who runs: for the message of the one that comes second, and for
// commands that ask the server.
func (s *state) announce(address, token string) error {
	text, err := json.Marshal(running{PID: os.Getpid(), URL: address, Token: token})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, devFile), text, 0o600); err != nil {
		return s.unusable(err)
	}
	return nil
}

// announced is what the dev server that runs, or one that was killed, said of itself. The file may have come with the
// site: one that names another place than a server of this machine says nothing.
func (s *state) announced() (r running, ok bool) {
	text, err := readRegular(filepath.Join(s.dir, devFile))
	if err != nil || json.Unmarshal(text, &r) != nil || !isOwnServer(r.URL) {
		return running{}, false
	}
	return r, true
}

// isOwnServer reports whether an address is that of a server of this machine, and nothing more: a host that is a
// loopback address, by number, and a port.
func isOwnServer(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, port := net.ParseIP(u.Hostname()), u.Port()
	return ip != nil && ip.IsLoopback() && port != "" && address == "http://"+net.JoinHostPort(u.Hostname(), port)
}

// runs is the dev server that runs on the state, which holds its lock.
func (s *state) runs() (r running, ok bool) {
	r, ok = s.announced()
	return r, ok && lockHeld(filepath.Join(s.dir, devLock))
}

// guardPoll is how often it is looked whether the state is still there.
const guardPoll = 500 * time.Millisecond

// guard looks whether what was opened of the state is still there, and calls gone when it is
// not: what is written to removed files nobody finds again, so nothing more may be acknowledged.
func (s *state) guard(ctx context.Context, gone func(error)) {
	err := s.opened.note(filepath.Join(s.dir, devLock))
	ticker := time.NewTicker(guardPoll)
	defer ticker.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err = s.opened.there()
	}
	what := "what was opened of the state"
	if lost, ok := errors.AsType[*fs.PathError](err); ok {
		what = quotedPath(lost.Path)
	}
	if _, missing := os.Stat(s.dir); missing != nil {
		what = "the state folder " + quotedPath(s.dir)
	}
	gone(resourceError("state-gone", what+" was removed while the site ran, and with it what was written since", "start pages dev again", err))
}

var errReplaced = errors.New("another one is in its place")

// openedFiles are files as they were when they were opened.
type openedFiles struct {
	mu    sync.Mutex
	files map[string]fs.FileInfo
}

// note keeps what a file is that was just opened.
func (o *openedFiles) note(path string) error {
	opened, err := os.Stat(path)
	if err != nil || o == nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string]fs.FileInfo{}
	}
	o.files[path] = opened
	return nil
}

// there returns an error that names a file which is no longer the one that was opened.
func (o *openedFiles) there() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for path, opened := range o.files {
		now, err := os.Stat(path)
		if err == nil && !os.SameFile(opened, now) {
			err = &fs.PathError{Op: "stat", Path: path, Err: errReplaced}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flushPatience is how long a dev server may take to write what it has answered.
const flushPatience = 2 * time.Second

// flushLog asks the dev server of the state, if one runs, to write what it has answered so far: it does so a moment
// later by itself. Without an answer there is what there is.
func (s *state) flushLog(ctx context.Context) {
	r, ok := s.runs()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+flushPath, nil)
	if err != nil {
		return
	}
	ask.Header.Set("Authorization", "Bearer "+r.Token)
	ask.Header.Set("Content-Type", "application/json")
	if answer, err := direct.Do(ask); err == nil {
		_ = answer.Body.Close() // nothing in it is read
	}
}

// direct asks who is named and nobody else: no proxy, and nobody that an answer names.
var direct = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
