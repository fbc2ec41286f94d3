package site

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// recorder passes a response on and records its status and length.
type recorder struct {
	http.ResponseWriter

	status  int
	bytes   int64
	members bool                     // the path is for members
	slow    func() bool              // reports whether the body of the request arrived too slowly; nil for no check
	changes []edgerules.HeaderChange // by the site's own rules
}

// statusClientGone is the status that engines give a request whose client has left. For net/http, a client whose body arrives too slowly
// has left, too.
const statusClientGone = 499

// WriteHeader records the final status.
func (w *recorder) WriteHeader(status int) {
	if status == statusClientGone && w.slow != nil && w.slow() {
		return // see refuseSlowBody
	}
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.setStatus(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// setStatus completes the headers of the final response.
func (w *recorder) setStatus(status int) {
	w.status = status
	w.applyHeaderRules()
	if !w.members {
		return
	}
	h := w.Header()
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = cacheNever
	}
	varies := func(line string) bool { return line == "*" || strings.Contains(strings.ToLower(line), "cookie") }
	if !slices.ContainsFunc(h["Vary"], varies) {
		h["Vary"] = append(slices.Clip(h["Vary"]), "Cookie")
	}
}

// applyHeaderRules applies the site's rules. No rule may open a response for members to shared caches, or to other sites that make requests
// with their user's cookies.
func (w *recorder) applyHeaderRules() {
	h := w.Header()
	for _, c := range w.changes {
		switch {
		case c.Name == "Content-Type" && w.status/100 == 3,
			c.Name == "Access-Control-Allow-Credentials" && w.members,
			c.Name == "Cache-Control" && w.members && !keptPrivate(c.Value),
			c.Name == "Cache-Control" && w.status >= http.StatusBadRequest: // a page missing now may exist after the next release
		case c.Unset:
			h[c.Name] = nil // set, so that the server adds none
		case c.Name == "Set-Cookie":
			h[c.Name] = append(slices.Clip(h[c.Name]), c.Value)
		case (c.Append || c.Name == "Vary") && len(h[c.Name]) > 0:
			h[c.Name] = []string{strings.Join(append(slices.Clip(h[c.Name]), c.Value), ", ")}
		default:
			h[c.Name] = []string{c.Value}
		}
	}
}

// keptPrivate reports whether a Cache-Control keeps a response out of shared caches.
func keptPrivate(value string) bool {
	for directive := range strings.SplitSeq(strings.ToLower(value), ",") {
		if directive = strings.TrimSpace(directive); directive == "private" || directive == "no-store" {
			return true
		}
	}
	return false
}

// Write records the length.
func (w *recorder) Write(p []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// write is Write without the error, for a body whose client may be gone by now.
func (w *recorder) write(p []byte) { _, _ = w.Write(p) }

// ReadFrom lets the server send files without copying them through the recorder.
func (w *recorder) ReadFrom(src io.Reader) (int64, error) {
	w.begin()
	n, err := io.Copy(w.ResponseWriter, src)
	w.bytes += n
	return n, err
}

// Flush sends the buffered bytes.
func (w *recorder) Flush() {
	w.begin()
	// A writer that cannot flush sends the bytes later.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack takes over the connection.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil && w.status == 0 {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

// Unwrap serves http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// begin starts a response without WriteHeader.
func (w *recorder) begin() {
	if w.status == 0 {
		w.setStatus(http.StatusOK)
	}
}
