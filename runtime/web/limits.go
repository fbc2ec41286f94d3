package web

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/console"
)

// This file bounds how often a Worker may fetch, and how much it may answer with. The body counts as the
// Worker gave it, before it is compressed; answers without one, as to HEAD and
// with status 304, count nothing.

// admitAnswer refuses an answer that is known to be too large before any of it
// is written: the visitor gets the reason in its place.
func (h *Host) admitAnswer(x *Exchange, a *answer) error {
	if a.source == nil && !a.streamed {
		return h.countAnswer(x, len(a.text)+len(a.bytes))
	}
	if declared := declaredLength(x.w.Header()); declared > h.o.AnswerBytes && h.o.LimitMode == LimitEnforce {
		return h.tooLarge()
	}
	return nil
}

// countAnswer counts bytes of the body. Those over the limit end it.
func (h *Host) countAnswer(x *Exchange, n int) error {
	before := x.sent
	x.sent += int64(n)
	if x.sent <= h.o.AnswerBytes || h.o.LimitMode == LimitOff {
		return nil
	}
	if h.o.LimitMode == LimitEnforce {
		return h.tooLarge()
	}
	if before <= h.o.AnswerBytes {
		h.log(x.io.Scope, console.Entry{Level: "warn", Text: h.tooLarge().Err.Message})
	}
	return nil
}

func (h *Host) tooLarge() *Failure {
	return &Failure{Kind: KindAnswerSize, Err: &engine.Error{
		Message: fmt.Sprintf("the answer is larger than %s", sizeText(h.o.AnswerBytes)),
	}}
}

// sizeText writes a number of bytes in the largest unit that it is a multiple of.
func sizeText(n int64) string {
	const kilo = 1 << 10
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	at := 0
	for n >= kilo && n%kilo == 0 && at < len(units)-1 {
		n, at = n/kilo, at+1
	}
	return fmt.Sprintf("%d %s", n, units[at])
}

// countSubRequest counts one outbound request of x; the one over the limit is refused
// (platform document, 2.9 limits.subRequests). What counts is an assumption: a fetch
// and each redirect that it follows, and no call of a binding.
func (h *Host) countSubRequest(x *Exchange) error {
	n := x.subRequests.Add(1)
	if int(n) <= h.o.SubRequests || h.o.LimitMode == LimitOff {
		return nil
	}
	message := fmt.Sprintf("Too many subrequests: limits.subRequests allows %d for one request, redirects counted", h.o.SubRequests)
	if h.o.LimitMode == LimitWarn {
		h.log(x.io.Scope, console.Entry{Level: "warn", Text: message})
		return nil
	}
	x.subRequests.Add(-1)
	return &engine.Error{Name: "Error", Message: message}
}
