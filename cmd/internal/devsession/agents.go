package devsession

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/pages-toolchain/pages/cmd/internal/devagent"
	"github.com/pages-toolchain/pages/cmd/internal/devbackground"
	"github.com/pages-toolchain/pages/devserver/site"
)

// This file serves coding agents: their tools over MCP, and the end of a session in the background.

// agents answers /__pages/mcp, for programs with the token of this run.
func (r *session) agents(t *tools) http.Handler {
	return devagent.NewHandler(devagent.Options{
		Version: r.process.Tool, Commands: t.commands(), Server: r.state.DevServer,
		Star:      func(_ context.Context, text string) string { return t.instance.builder.hidden.Load().Star(text) },
		EdgeRules: r.process.Sites.EdgeRules, AllowWrite: r.options.AllowWrite, Grant: "pages dev --allow-write",
	})
}

// serveStop answers POST /__pages/api/stop. The request names the process, so that a record of an earlier one ends no other.
func (t *tools) serveStop(w http.ResponseWriter, r *http.Request) {
	var asked devbackground.StopRequest
	if !readArguments(w, r, &asked) {
		return
	}
	if asked.PID != os.Getpid() || !t.run.options.Background {
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusConflict, Code: "other_process",
			Message: fmt.Sprintf("process %d does not run in the background here", asked.PID),
			Fix:     "pages dev status shows the process that runs",
		})
		return
	}
	sendDone(w, r, nil)
	t.quit()
}
