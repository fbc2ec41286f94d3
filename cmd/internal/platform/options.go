package platform

import (
	"context"
	"log/slog"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/host"
	"github.com/pages-toolchain/pages/devserver"
)

// Options are those of a service that runs.
type Options struct {
	At        Location
	Host      host.Options
	PerMinute int    // calls of a key that has no limit of its own
	Seed      string // plant the demo into an empty service; "" for nothing
	// Listen opens the sockets, once everything else stands.
	Listen func(context.Context) (*devserver.Listeners, error)
	// Ready is told where the service is, once it answers.
	Ready          func(Ready)
	Progress, Warn func(format string, args ...any)
	Logger         *slog.Logger
	Now            func() time.Time
}

// Ready is the first line of `pages platform --json`.
type Ready struct {
	URL        string            `json:"url"`
	MCPPath    string            `json:"mcp_path"`
	Keys       map[string]string `json:"keys"`
	Workspaces []string          `json:"workspaces"`
	Demo       map[string]string `json:"demo"`
}
