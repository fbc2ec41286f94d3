package runtime

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// metered adds the request's meter to the head of its answer, as a
// Server-Timing header.
type metered struct {
	http.ResponseWriter
	limits   Limits
	hidden   bool // see [WorkerOptions.HideMeter]
	scope    *engine.Scope
	exchange *web.Exchange
	wrote    bool
	headed   func() // is called, once or more, when the head is written; may be nil
}

// WriteHeader implements http.ResponseWriter.
func (m *metered) WriteHeader(status int) {
	if !m.wrote && status >= 200 {
		m.wrote = true
		m.tell()
	}
	m.ResponseWriter.WriteHeader(status)
	if m.headed != nil && (status >= 200 || status == http.StatusSwitchingProtocols) {
		m.headed()
	}
}

// tell adds the header. It is also for answers that others write, because the Worker failed.
func (m *metered) tell() {
	if m.hidden {
		return
	}
	cpu := float64(m.scope.CPU()) / float64(time.Millisecond)
	m.Header().Add("Server-Timing", fmt.Sprintf(`cpu;dur=%.2f;desc="of %d ms", sub;desc="%d of %d"`,
		cpu, m.limits.allowed().Milliseconds(), m.exchange.SubRequests(), m.limits.SubRequests))
}

// Write implements http.ResponseWriter.
func (m *metered) Write(b []byte) (int, error) {
	if !m.wrote {
		m.WriteHeader(http.StatusOK)
	}
	return m.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the writer below.
func (m *metered) Unwrap() http.ResponseWriter { return m.ResponseWriter }
