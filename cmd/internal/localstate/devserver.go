package localstate

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

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// DevServer is what a dev server says of itself in its state folder.
type DevServer struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
	// Token opens the tools under /__pages/api/ that change something.
	Token string `json:"token"`
}

// Port is the port a server answers on.
func (r DevServer) Port() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Port()
}

// LockDev makes sure that one dev server runs on the state. unlock removes what
// announce wrote.
func (s *State) LockDev() (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.Dir, statefolder.DevLock))
	ok, err := lock.TryLock()
	for range devLockTries { // who looks whether somebody runs holds it for a moment
		if ok || err != nil {
			break
		}
		time.Sleep(LockPoll)
		ok, err = lock.TryLock()
	}
	if err != nil {
		return nil, s.WriteError(err)
	}
	if !ok {
		return nil, failure.Resource("already-running", s.whoRuns(), "use that one, stop it, or give this one its own --state-dir", nil)
	}
	_ = os.Remove(filepath.Join(s.Dir, statefolder.DevFile)) // of one that was killed: nobody is asked there
	return func() {
		// The lock ends with the process in any case.
		_ = os.Remove(filepath.Join(s.Dir, statefolder.DevFile))
		_ = lock.Unlock()
	}, nil
}

// devLockTries is how often a lock that is held is tried again.
const devLockTries = 3

func (s *State) whoRuns() string {
	r, ok := s.Announced()
	if !ok {
		return fmt.Sprintf("another pages dev uses the state folder %s", wording.QuotePath(s.Dir))
	}
	return fmt.Sprintf("another pages dev uses the state folder %s: process %d at %s", wording.QuotePath(s.Dir), r.PID, r.URL)
}

// Announce writes who runs: for the message of the one that comes second, and for
// commands that ask the server.
func (s *State) Announce(address, token string) error {
	text, err := json.Marshal(DevServer{PID: os.Getpid(), URL: address, Token: token})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.Dir, statefolder.DevFile), text, 0o600); err != nil {
		return s.WriteError(err)
	}
	return nil
}

// Announced is what the dev server that runs, or one that was killed, said of itself. The file may have come with the
// site: one that names another place than a server of this machine says nothing.
func (s *State) Announced() (r DevServer, ok bool) {
	text, err := userfile.ReadRegular(filepath.Join(s.Dir, statefolder.DevFile))
	if err != nil || json.Unmarshal(text, &r) != nil || !isOwnServer(r.URL) {
		return DevServer{}, false
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

// DevServer is the dev server that runs on the state, which holds its lock.
func (s *State) DevServer() (r DevServer, ok bool) {
	r, ok = s.Announced()
	return r, ok && lockHeld(filepath.Join(s.Dir, statefolder.DevLock))
}

// GuardPoll is how often it is looked whether the state is still there.
const GuardPoll = 500 * time.Millisecond

// Guard looks whether what was opened of the state is still there, and calls gone when it is
// not: what is written to removed files nobody finds again, so nothing more may be acknowledged.
func (s *State) Guard(ctx context.Context, gone func(error)) {
	err := s.opened.note(filepath.Join(s.Dir, statefolder.DevLock))
	ticker := time.NewTicker(GuardPoll)
	defer ticker.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err = s.opened.check()
	}
	what := "what was opened of the state"
	if lost, ok := errors.AsType[*fs.PathError](err); ok {
		what = wording.QuotePath(lost.Path)
	}
	if _, missing := os.Stat(s.Dir); missing != nil {
		what = "the state folder " + wording.QuotePath(s.Dir)
	}
	gone(failure.Resource("state-gone", what+" was removed while the site ran, and with it what was written since", "start pages dev again", err))
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

// check returns an error that names a file which is no longer the one that was opened.
func (o *openedFiles) check() error {
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

// StillThere returns an error when a file that was opened was removed or replaced.
func (s *State) StillThere() error { return s.opened.check() }

// flushPatience is how long a dev server may take to write what it has answered.
const flushPatience = 2 * time.Second

// FlushLog asks the dev server of the state, if one runs, to write what it has answered so far: it does so a moment
// later by itself. Without an answer there is what there is.
func (s *State) FlushLog(ctx context.Context) {
	r, ok := s.DevServer()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+FlushPath, nil)
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

// FlushPath is where a command asks for what was answered so far to be in the log.
const FlushPath = "/__pages/api/logs/flush"
