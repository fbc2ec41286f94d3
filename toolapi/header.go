package toolapi

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Headers of requests and responses (platform document, sections 4.1 and 7.1).
const (
	HeaderAPI                = "X-Service-Api"
	HeaderRequestID          = "X-Request-Id"
	HeaderToolError          = "X-Service-Tool-Error"
	HeaderIdempotencyKey     = "Idempotency-Key"
	HeaderRateLimit          = "Ratelimit-Limit"
	HeaderRateLimitRemaining = "Ratelimit-Remaining"
	HeaderRateLimitReset     = "Ratelimit-Reset"
	HeaderRetryAfter         = "Retry-After"
	HeaderDeprecation        = "Deprecation"
	HeaderSunset             = "Sunset"
	HeaderLink               = "Link"
)

var (
	requestID      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`) })
	idempotencyKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[!-~]{1,200}$`) })
)

// RequestID returns the request id of a request's header; false when there is none, more than
// one, or a malformed one: then the service makes its own.
func RequestID(h http.Header) (string, bool) {
	sent := h.Values(HeaderRequestID)
	if len(sent) != 1 || !requestID().MatchString(sent[0]) {
		return "", false
	}
	return sent[0], true
}

// HeaderKey returns the idempotency key of a request's header; "" when there is none. The key is
// raw bytes: quotes are part of it. A malformed header is an *Error.
func HeaderKey(h http.Header) (string, error) {
	sent := h.Values(HeaderIdempotencyKey)
	if len(sent) == 0 {
		return "", nil
	}
	if len(sent) > 1 || !idempotencyKey().MatchString(sent[0]) {
		return "", NewError(CodeIdempotencyInvalid, "Idempotency-Key must be sent once, as 1 to 200 visible ASCII characters.")
	}
	return sent[0], nil
}

// Deprecate adds the headers of a response to a call that used something deprecated:
// Deprecation (RFC 9745), Sunset (RFC 8594) and Link (RFC 8288). feature is the
// fragment of DeprecationsPath that names the replacement.
func Deprecate(h http.Header, feature string) {
	h.Set(HeaderDeprecation, "@"+strconv.FormatInt(deprecated.Unix(), 10))
	h.Set(HeaderSunset, sunset.Format(http.TimeFormat))
	h.Set(HeaderLink, "<"+DeprecationsPath+"#"+feature+`>; rel="deprecation"; type="text/html"`)
}

// Deprecated reads the headers of Deprecate. It returns the address of the deprecation's page at the service base, or "", and a sentence
// for people. ok is false without a deprecation.
func Deprecated(h http.Header, base *url.URL) (what, sentence string, ok bool) {
	since, until := h.Get(HeaderDeprecation), h.Get(HeaderSunset)
	if since == "" && until == "" {
		return "", "", false
	}
	sentence = "the service's response uses something deprecated"
	if n, err := strconv.ParseInt(strings.TrimPrefix(since, "@"), 10, 64); err == nil && strings.HasPrefix(since, "@") {
		sentence += " since " + time.Unix(n, 0).UTC().Format(time.DateOnly)
	}
	if t, err := http.ParseTime(until); err == nil {
		sentence += ", kept until " + t.UTC().Format(time.DateOnly)
	}
	what, _, _ = strings.Cut(strings.TrimPrefix(h.Get(HeaderLink), "<"), ">")
	if what != "" {
		if u, err := base.Parse(what); err == nil {
			what = u.String()
		}
		sentence += ": see " + what
	}
	return what, sentence, true
}

// Features that are deprecated, as fragments of DeprecationsPath.
const (
	NestedError = "nested-error"
	BodyKey     = "body-idempotency-key"
)

// SunsetDate is the earliest date at which deprecated features may be removed.
func SunsetDate() time.Time { return sunset }
