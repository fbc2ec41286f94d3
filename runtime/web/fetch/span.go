package fetch

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/pages-toolchain/pages/runtime/trace"
)

// startSpan begins the span of one request of a fetch, from its start to the head of the response. The request gets no header for it:
// the server would learn something that the Worker did not send.
func (s *Session) startSpan(f *Outbound, hops int) trace.Active {
	if s.trace == nil {
		return trace.Active{}
	}
	attributes := make([]trace.Attribute, 0, 6)
	attributes = append(attributes, trace.Text(trace.RequestMethod, f.method), trace.URL(trace.FullURL, f.url))
	if u, err := url.Parse(f.url); err == nil {
		attributes = append(attributes, trace.Text(trace.ServerAddress, u.Hostname()))
		if port, err := strconv.ParseInt(u.Port(), 10, 64); err == nil {
			attributes = append(attributes, trace.Int(trace.ServerPort, port))
		}
	}
	if hops > 0 {
		attributes = append(attributes, trace.Int(trace.ResendCount, int64(hops)))
	}
	return s.trace.Start("fetch", attributes...)
}

func endSpan(span trace.Active, resp *http.Response, err error) {
	if resp == nil {
		span.End(err)
		return
	}
	span.End(err, trace.Int(trace.StatusCode, int64(resp.StatusCode)))
}
