// Package devbackground runs pages dev in the background: it starts the process, finds it again, reads its output and ends it.
//
// Input: the state of a site, and the command line of the server. Output: a Status, or a *failure.Error with the server's own problem. The
// lock of the state proves that a server runs, and its record has the address; only the server itself ends its process, when a request with
// its token names it, so that no other process can be hit. A Log bounds the file with the output. The functions may run side by side.
//
// The package knows no flags, and does not print.
package devbackground

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Status is the dev server of a site, and the output of `pages dev status --json`.
type Status struct {
	Running    bool                `json:"running"`
	Background bool                `json:"background"` // pages dev stop can end it
	PID        int                 `json:"pid"`        // 0 while none runs
	URL        string              `json:"url"`
	OK         bool                `json:"ok"`    // the last build is served
	Build      int64               `json:"build"` // its number
	Problems   []devserver.Problem `json:"problems"`
}

// poll is the time between two looks at a process that starts or ends.
const poll = 50 * time.Millisecond

// Find returns the status of the site's dev server. It waits for the first build.
func Find(ctx context.Context, s *localstate.State) (Status, error) {
	none := Status{Problems: []devserver.Problem{}}
	r, ok := s.DevServer()
	if !ok {
		return none, nil
	}
	status, err := ask(ctx, r)
	for left := endPatience; err != nil && left > 0 && ctx.Err() == nil; left -= poll {
		if r, ok = s.DevServer(); !ok {
			return none, nil // it has just ended
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
		}
		status, err = ask(ctx, r)
	}
	switch {
	case ctx.Err() != nil:
		return none, ctx.Err()
	case err != nil:
		return none, unanswered(r, err)
	}
	return status, nil
}

// endPatience is the time for which a server that ends may hold its lock without an answer.
const endPatience = 3 * time.Second

// ask asks a server for its status.
func ask(ctx context.Context, r localstate.DevServer) (Status, error) {
	var state devserver.State
	err := r.Call(ctx, http.MethodGet, devserver.StatePath, nil, &state)
	return Status{
		Running: true, Background: r.Background, PID: r.PID, URL: r.URL, OK: state.OK, Build: state.Build, Problems: state.Problems,
	}, err
}

// unanswered is the error of a server that holds its lock and does not answer.
func unanswered(r localstate.DevServer, err error) error {
	return failure.Resource(
		"dev-unanswered", fmt.Sprintf("pages dev runs as process %d, and does not answer at %s", r.PID, r.URL),
		fmt.Sprintf("end the process %d yourself if it stays so", r.PID), err,
	)
}

// Start starts a dev server on a state and waits until its first build has ended. If one runs already, it returns that one. cmd is not
// started, and gets its output. After a failed build the server runs on, and the error has the first problem.
func Start(ctx context.Context, s *localstate.State, cmd *exec.Cmd) (Status, error) {
	if status, err := Find(ctx, s); err != nil || status.Running {
		return status, err
	}
	if err := s.Create(); err != nil {
		return Status{}, err
	}
	name := filepath.Join(s.Dir, statefolder.DevLogFile)
	log, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return Status{}, s.WriteError(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	err = cmd.Start()
	if err := errors.Join(err, log.Close()); err != nil {
		return Status{}, failure.Resource("dev-not-started", "pages dev cannot be started in the background",
			"run pages dev without --background", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // cmd.ProcessState has the code
		close(ended)
	}()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			if status, err := Find(ctx, s); err == nil && status.Running {
				return status, nil // another command started one at the same time
			}
			return Status{}, startFailure(cmd.ProcessState.ExitCode(), name)
		case <-ctx.Done():
			_ = cmd.Process.Kill() // our own child, which has not ended
			<-ended
			return Status{}, ctx.Err()
		case <-ticker.C:
		}
		if r, ok := s.Announced(); !ok || r.PID != cmd.Process.Pid {
			continue
		}
		status, err := Find(ctx, s)
		if err == nil && !status.Running {
			continue // it ends
		}
		return status, err
	}
}

// startFailure is the error of a server that ended before it answered: its own message and fix, from its output.
func startFailure(code int, log string) error {
	text, err := userfile.ReadRegular(log)
	if err != nil {
		text = nil
	}
	f := &failure.Error{Exit: code, Code: "dev-ended", Message: strings.TrimSpace(string(text))}
	for line := range strings.Lines(string(text)) {
		if message, ok := strings.CutPrefix(line, "pages: "); ok {
			f.Message, f.Fix = strings.TrimSpace(message), ""
		}
		if fix, ok := strings.CutPrefix(line, "fix: "); ok {
			f.Fix = strings.TrimSpace(fix)
		}
	}
	f.Exit = cmp.Or(max(f.Exit, 0), failure.ExitRefused)
	f.Message = cmp.Or(f.Message, fmt.Sprintf("pages dev ended with exit code %d and without a message", code))
	return f
}

// Stop ends the dev server of a state, if one runs in the background, and waits until its lock is free.
func Stop(ctx context.Context, s *localstate.State) (stopped Status, err error) {
	r, ok := s.DevServer()
	if !ok {
		return Status{}, nil
	}
	if !r.Background {
		return Status{}, &failure.Error{
			Exit: failure.ExitRefused, Code: "dev-in-terminal",
			Message: fmt.Sprintf("pages dev runs in a terminal, as process %d, and not in the background", r.PID),
			Fix:     "press Ctrl-C there",
		}
	}
	if err := askToEnd(ctx, r); err != nil {
		if _, still := s.DevServer(); still {
			return Status{}, unanswered(r, err)
		}
	}
	const patience = time.Minute
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if now, still := s.DevServer(); !still || now.PID != r.PID {
			return Status{PID: r.PID, URL: r.URL, Background: true, Problems: []devserver.Problem{}}, nil
		}
		select {
		case <-patient.Done():
			return Status{}, cmp.Or(ctx.Err(), unanswered(r, patient.Err()))
		case <-ticker.C:
		}
	}
}

// StopPath is the endpoint of the dev server that ends its process. The body is a StopRequest.
const StopPath = "/__pages/api/stop"

// StopRequest names the process that should end.
type StopRequest struct {
	PID int `json:"pid"`
}

// askToEnd sends the request.
func askToEnd(ctx context.Context, r localstate.DevServer) error {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return r.Call(ctx, http.MethodPost, StopPath, StopRequest{r.PID}, nil)
}
