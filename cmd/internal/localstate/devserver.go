package localstate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// DevServer is the record that a dev server writes into its state folder.
type DevServer struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
	// Token authorizes calls under /__pages/api/ that change something.
	Token string `json:"token"`
	// Background is set for a server without a terminal, which pages dev stop may end.
	Background bool `json:"background,omitempty"`
	// Bindings has the address at which other processes use the site's bindings, and the token of their calls.
	Bindings *DevBindings `json:"bindings,omitempty"`
}

// DevBindings is the address of a dev server's bindings.
type DevBindings struct {
	Address string `json:"address"` // unix:/… or 127.0.0.1:port
	Token   string `json:"token"`
}

// Port returns the port that the server listens on.
func (r DevServer) Port() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Port()
}

// LockDev makes sure that only one dev server runs on the state. unlock also removes the record of Announce.
func (s *State) LockDev() (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.Dir, statefolder.DevLock))
	ok, err := lock.TryLock()
	for range 3 { // a process that checks for a dev server holds the lock for a moment
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
		message := "another pages dev uses the state folder " + wording.QuotePath(s.Dir)
		if r, ok := s.Announced(); ok {
			message += fmt.Sprintf(": process %d at %s", r.PID, r.URL)
		}
		return nil, failure.Resource("already-running", message, "use that one, stop it, or pass another --state-dir", nil)
	}
	_ = os.Remove(filepath.Join(s.Dir, statefolder.DevFile)) // left by a killed one
	return func() {
		// The lock ends with the process in any case.
		_ = os.Remove(filepath.Join(s.Dir, statefolder.DevFile))
		_ = lock.Unlock()
	}, nil
}

// Announce writes the record of this server, for a second dev server's error message and for programs that call it. PID is set.
func (s *State) Announce(r DevServer) error {
	r.PID = os.Getpid()
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.Dir, statefolder.DevFile), text, 0o600); err != nil {
		return s.WriteError(err)
	}
	return nil
}

// Announced reads the record of the dev server that runs, or of one that was killed. The file may have come with the site, so it ignores a
// record unless that names a server on this machine.
func (s *State) Announced() (r DevServer, ok bool) {
	text, err := userfile.ReadRegular(filepath.Join(s.Dir, statefolder.DevFile))
	if err != nil || json.Unmarshal(text, &r) != nil || !isOwnServer(r.URL) {
		return DevServer{}, false
	}
	return r, true
}

// isOwnServer reports whether an address is http:// with a numeric loopback address and a port, and nothing else.
func isOwnServer(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, port := net.ParseIP(u.Hostname()), u.Port()
	return ip != nil && ip.IsLoopback() && port != "" && address == "http://"+net.JoinHostPort(u.Hostname(), port)
}

// DevServer returns the record of the dev server that holds the lock of the state.
func (s *State) DevServer() (r DevServer, ok bool) {
	r, ok = s.Announced()
	return r, ok && lockHeld(filepath.Join(s.Dir, statefolder.DevLock))
}

// flushPatience is the time that a dev server has to write its pending log entries.
const flushPatience = 2 * time.Second

// FlushLog asks the dev server of the state, if one runs, to write its request log now. It ignores a failure: the log then lacks the last
// moment.
func (s *State) FlushLog(ctx context.Context) {
	r, ok := s.DevServer()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	_ = r.Call(ctx, http.MethodPost, FlushPath, nil, nil)
}

// maxDocument bounds the response to Call, in bytes.
const maxDocument = 16 << 20

// Call sends a request to an endpoint of the dev server, with body as JSON unless that is nil, and decodes the response into document
// unless that is nil. The error is that of the network, or of a status that is not 2xx.
func (r DevServer) Call(ctx context.Context, method, path string, body, document any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := direct.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the response has the status %d", resp.StatusCode)
	}
	if document == nil {
		return nil
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxDocument)).Decode(document)
}

// direct uses no proxy and follows no redirect.
var direct = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// FlushPath is the endpoint of the dev server that flushes the request log.
const FlushPath = "/__pages/api/logs/flush"
