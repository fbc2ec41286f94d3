package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// This file writes failures in the form of each kind's client.

// refuse responds with err after it has read the rest of the request: a client does not read a response while it writes.
func (c *call) refuse(err error) {
	if c.kind == "outbound" {
		c.wrote, c.record.Status = true, http.StatusBadGateway
		fetch.Refuse(c.w, err)
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = refuse(http.StatusRequestTimeout, "the rest of the request did not come within %v", c.silence)
		c.record.Err = err.Error()
	} else {
		_, _ = io.CopyN(io.Discard, c.body(), maxDrained)
	}
	status := http.StatusInternalServerError
	if refusal, ok := errors.AsType[refusalError](err); ok {
		status = refusal.status
	} else if errors.Is(err, engine.ErrClosed) {
		status, err = http.StatusServiceUnavailable, errors.New("the site is being stopped")
	} else if errors.Is(err, context.Canceled) {
		err = errors.New("the call was cancelled")
	}
	if c.r.Header.Get(errorsHeader) != "" {
		c.workerError(err)
	}
	switch c.kind {
	case "kv":
		c.refuseKV(status, err)
	case "r2":
		c.refuseR2(status, err)
	case "d1":
		c.refuseD1(err)
	case "images":
		c.refuseImages(status, err)
	default:
		_ = c.answer(status, "text/plain; charset=utf-8", []byte(err.Error()))
	}
}

func (c *call) refuseKV(status int, err error) {
	text := err.Error()
	if _, ok := errors.AsType[refusalError](err); !ok && !errors.Is(err, engine.ErrClosed) {
		refusal := kv.Refusal("", err)
		status, text = refusal.Status, refusal.Text
	}
	c.record.Err = text
	c.reason(status, text)
}

// reason responds with a reason in the status line.
func (c *call) reason(status int, text string) {
	if w, ok := c.w.(*response); ok {
		w.WriteReason(text)
		c.w.Header().Set("Content-Length", "0")
		c.head(status)
		return
	}
	c.wrote, c.record.Status = true, status
	conn, buffered, err := c.control.Hijack()
	if err != nil {
		_ = c.answer(status, "text/plain; charset=utf-8", []byte(text))
		return
	}
	defer conn.Close()
	fmt.Fprintf(buffered, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status, plain(text))
	_ = buffered.Flush()
}

// plain converts text for a status line, where clients accept only ASCII.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case r > 0x7f:
			return '?'
		}
		return r
	}, text)
}

// Codes of R2 that only its service's protocol has.
const (
	codeInternal     = 10001
	codeNoSuchKey    = 10007
	codePrecondition = 10031
)

func (c *call) refuseR2(status int, err error) {
	code, text := codeInternal, err.Error()
	if refusal, ok := errors.AsType[*r2.Error](err); ok {
		code, text, status = refusal.Code, refusal.Text, refusal.Status()
	} else if named, ok := errors.AsType[*engine.Error](err); ok {
		text = named.Message
	}
	c.record.Err = text
	c.errorHeader(code, text)
	c.w.Header().Set("Content-Length", "0")
	c.head(status)
}

// errorHeader sets the header that R2's client reads a refusal from, in ASCII.
func (c *call) errorHeader(code int, text string) {
	quoted := strconv.QuoteToASCII(text)
	if b, err := json.Marshal(text); err == nil {
		quoted = escaped(b)
	}
	c.w.Header().Set("Cf-R2-Error", fmt.Sprintf(`{"version":1,"v4code":%d,"message":%s}`, code, quoted))
}

// escaped is JSON in ASCII.
func escaped(b []byte) string {
	var out strings.Builder
	for _, r := range string(b) {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

func (c *call) refuseD1(err error) {
	text := d1.Sentence(err)
	c.record.Err = text
	b := append(hostcall.AppendJSONString([]byte(`{"success":false,"error":`), text), '}')
	_ = c.answer(http.StatusOK, "application/json", b)
}

func (c *call) refuseImages(status int, err error) {
	code, text := 9523, err.Error()
	if refusal, ok := errors.AsType[*images.Error](err); ok {
		code, text, status = refusal.Code, refusal.Text, http.StatusBadRequest
	} else if named, ok := errors.AsType[*engine.Error](err); ok {
		text = named.Message
	}
	c.record.Err = text
	c.w.Header().Set("Cf-Images-Binding", fmt.Sprintf("err=%d", code))
	_ = c.answer(status, "text/plain; charset=utf-8", fmt.Appendf(nil, "ERROR %d: %s", code, text))
}

const (
	errorsHeader   = headerPrefix + "Errors"
	errorHeader    = headerPrefix + "Error"
	warningsHeader = headerPrefix + "Warnings"
	// maxErrorText is the maximum number of bytes of a message in that header.
	maxErrorText = 8 << 10
)

// kvMethods are the methods of KV as its errors name them.
var kvMethods = map[string]string{ //nolint:gochecknoglobals // a table
	"get": "GET", "list": "GET", "put": "PUT", "delete": "DELETE", "getBulk": "GET_BULK",
}

// workerError sets the header with the error that a Worker of the built-in engine catches.
func (c *call) workerError(err error) {
	if c.kind == "kv" {
		err = kv.WorkerError(kvMethods[c.record.Method], err)
	}
	b, fault := json.Marshal(errorOf(hostcall.WorkerError(err)))
	if fault == nil {
		c.w.Header().Set(errorHeader, escaped(b))
	}
}

// workerError is an error for a client to recreate.
type workerError struct {
	Name    string         `json:"name"`
	Message string         `json:"message"`
	Props   map[string]any `json:"props,omitempty"`
}

func errorOf(err error) workerError {
	named, ok := errors.AsType[*engine.Error](err)
	if !ok {
		named = &engine.Error{Name: "Error", Message: err.Error()}
	}
	out := workerError{Name: named.Name, Message: named.Message}
	if len(out.Message) > maxErrorText {
		out.Message = strings.ToValidUTF8(out.Message[:maxErrorText], "") + "…"
	}
	for _, field := range named.Props {
		if out.Props == nil {
			out.Props = map[string]any{}
		}
		switch value := field.Value.(type) {
		case *engine.Error:
			out.Props[field.Name] = errorOf(value)
		case int, string, bool:
			out.Props[field.Name] = value
		}
	}
	return out
}
