package devsession

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/inspector"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// This file connects debuggers with the Worker of `pages dev --inspect`.

// Inspect configures the inspector for debuggers. The engine is then workerd.
type Inspect struct {
	On   bool
	Port int // the next free one if it is taken; 0 for any
	// Wait is how long a request waits for a paused Worker. Default: 30 s.
	Wait time.Duration
}

// inspection is the inspector of a session.
type inspection struct {
	*inspector.Server

	port int
}

// openInspector opens the inspector of the options, nil for none. It makes the engine of the options report to it.
func (p Process) openInspector(ctx context.Context, dir string, o *Options) (*inspection, error) {
	if !o.Inspect.On {
		return nil, nil //nolint:nilnil // none is asked for, and nothing went wrong
	}
	sockets, err := devserver.Listen(ctx, o.Inspect.Port, false, netip.Addr{})
	if err != nil {
		err = PortError(err)
		if f, ok := err.(*failure.Error); ok { //nolint:errorlint // PortError has made it
			f.Fix = "free a port, or choose another with --inspect=PORT"
		}
		return nil, err
	}
	console := newConsole(p.Terminal)
	server := inspector.Start(inspector.Options{
		Title: siteName(dir), Dir: dir, Listeners: sockets.All(), Address: "127.0.0.1:" + strconv.Itoa(sockets.Port),
		Logger: console.logger(),
		OnFrontEnd: func(attached bool) {
			if attached {
				console.line("a debugger is attached")
			} else {
				console.line("the debugger has detached; the Worker continues")
			}
		},
	})
	o.Engine.Inspection = &workerd.Inspection{Debugger: server, Wait: o.Inspect.Wait}
	return &inspection{server, sockets.Port}, nil
}

// close lets the Worker run and closes the inspector, if there is one.
func (i *inspection) close() error {
	if i == nil {
		return nil
	}
	return i.Close()
}

// report returns the inspector for programs; "" for none.
func (i *inspection) report() string {
	if i == nil {
		return ""
	}
	return i.WebSocket()
}

// showInspector prints the address for debuggers.
func (k *console) showInspector(r *session) {
	if r.inspection == nil {
		return
	}
	taken := ""
	if wanted := r.options.Inspect.Port; wanted != 0 && wanted != r.inspection.port {
		taken = ", since port " + strconv.Itoa(wanted) + " was taken"
	}
	k.line("  inspector    127.0.0.1:%d%s: VS Code, JetBrains and chrome://inspect attach there", r.inspection.port, taken)
}

// showDevTools prints the address of Chrome's DevTools. Browsers accept it only from a person, so no program can open it.
func (k *keyboard) showDevTools(context.Context) {
	if k.inspection == nil {
		k.console.line("no debugger can attach: pages dev --inspect runs the Worker in V8 with an inspector")
		return
	}
	k.console.line("type this address into Chrome: %s", k.inspection.DevTools())
}
