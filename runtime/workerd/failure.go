package workerd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// This file finds the reason why a request got no response.

// envelope is the report of a failed handler by js/prelude.js.
type envelope struct {
	Kind        string `json:"kind"`
	PassThrough bool   `json:"passThrough"`
	thrownError
}

// maxEnvelope is the limit of an envelope, in bytes.
const maxEnvelope = 4 << 20

// thrown is the error of a handler that failed.
func (x *exchange) thrown(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxEnvelope))
	if err != nil {
		return x.failure(err)
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return &pagesruntime.Error{Kind: pagesruntime.KindInternal, Message: "read why the handler failed: " + err.Error()}
	}
	kind := pagesruntime.KindException
	if e.Kind == web.KindNotResponse {
		kind = pagesruntime.KindNotResponse
	}
	f := x.w.sources.Thrown(kind, x.p.thrown(e.thrownError))
	if e.PassThrough && x.passThrough(f) {
		return nil
	}
	return f
}

// passThrough responds as if there were no Worker, after ctx.passThroughOnException(). It reports whether it responded.
func (x *exchange) passThrough(f *pagesruntime.Error) bool {
	for _, assets := range x.w.o.Bindings.Assets { // there is at most one
		x.logError(pagesruntime.PassedThrough, f)
		x.wrote = true
		assets.ServeHTTP(x.rw, x.r)
		return true
	}
	return false
}

// refusedByWorkerd is the error of a response that workerd itself made; the reason is on its standard error.
func (x *exchange) refusedByWorkerd() error {
	said := x.p.output.awaitException()
	if said.hung() {
		return x.w.sources.Thrown(pagesruntime.KindHung, web.NeverAnswers())
	}
	if said.message == "" {
		const unknown = "workerd refused the request without a reason that is known here"
		return &pagesruntime.Error{Kind: pagesruntime.KindInternal, Message: unknown}
	}
	return x.w.sources.Thrown(pagesruntime.KindException, &engine.Error{Name: said.name, Message: said.message})
}

// endWait is the time in which a process must end after its connections broke off.
const endWait = time.Second

// failure is the error of a request whose connection to workerd failed.
func (x *exchange) failure(err error) error {
	if x.r.Context().Err() != nil {
		return web.ErrClientGone
	}
	if errors.Is(err, errHead) {
		return &pagesruntime.Error{Kind: pagesruntime.KindException, Message: err.Error(), Fix: "send fewer or shorter headers"}
	}
	if why := x.p.ended(); why != nil {
		return x.endingError(why)
	}
	// Either the process is about to end, or the Worker broke off the response.
	if said := x.p.output.awaitException(); said.message != "" && x.p.ended() == nil {
		return x.w.sources.Thrown(pagesruntime.KindException, &engine.Error{Name: said.name, Message: said.message})
	}
	select {
	case <-x.p.done:
	case <-time.After(endWait):
	}
	if why := x.p.ended(); why != nil {
		return x.endingError(why)
	}
	return &pagesruntime.Error{Kind: pagesruntime.KindInternal, Message: "the connection to workerd broke off: " + err.Error()}
}

// endingError is the error of a request that ran when its process ended.
func (x *exchange) endingError(why *ending) *pagesruntime.Error {
	s := x.w.sources
	if why.blamed == x || why.blamed == nil && why.among == 1 {
		switch why.cause { //nolint:exhaustive // the others blame no request
		case byCPU:
			return s.OverCPU(&engine.KilledError{Budget: x.w.o.Limits.Budget()})
		case byMemory:
			return s.Thrown(pagesruntime.KindMemory, engine.OutOfMemory())
		}
	}
	f := &pagesruntime.Error{Kind: pagesruntime.KindReset, Fix: "send the request again"}
	oneOf := "another request"
	if why.blamed == nil && why.among > 1 {
		oneOf = fmt.Sprintf("one of %d requests that ran at the same time", why.among)
	}
	switch why.cause {
	case byCPU:
		f.Message = oneOf + " ran over limits.cpuMs, and the process of workerd that they shared was restarted"
	case byMemory:
		f.Message = fmt.Sprintf("%s used more than %d MB of memory, and the process of workerd that they shared was restarted",
			oneOf, heapMB)
	case byShortage:
		f.Message = "all processes of workerd together used more memory than there is for them, and the largest one was restarted"
	case byStall:
		f.Message = "workerd did not answer any more, and was restarted"
	case byClose:
		f.Message = errClosed.Message
	default:
		f.Message = "the Worker was restarted during this request (" + why.state + ")"
	}
	return f
}

// thrown converts an error of our script to the engine's form, with the names of frames in our form.
func (p *process) thrown(t thrownError) *engine.Error {
	e := &engine.Error{Name: t.Name, Message: t.Message, Stack: p.frames(t.Stack)}
	const fields, stack = 4, 3 // of each cause: see web.AddCauses
	for i := stack; i < len(t.Causes); i += fields {
		t.Causes[i] = p.frames(t.Causes[i])
	}
	web.AddCauses(e, t.Causes)
	return e
}
