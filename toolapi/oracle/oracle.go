// Package oracle validates every exchange of a test against the service's own OpenAPI document, by a third-party validator.
//
// Input: a service's http.Handler (Handler), or a client's transport (Transport). Output: failures of the test, when it
// ends. A request may be invalid, but a successful one must match the document, and an operation outside the document must
// be refused. Pages for people (the console and published sites) are not validated.
package oracle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/errors"

	"github.com/pages-toolchain/pages/toolapi"
)

const maxBody = 1 << 20 // bytes that are validated: the API has no longer bodies

// Oracle validates exchanges. Its methods may be called concurrently.
type Oracle struct {
	validator  validator.Validator
	operations map[string][]string // methods by path

	mu       sync.Mutex
	checked  int
	problems []string
}

// validators caches the validators of documents, since creating one is slow.
var validators = struct {
	mu  sync.Mutex
	all map[string]validator.Validator
}{all: map[string]validator.Validator{}}

func validatorOf(t testing.TB, document []byte) validator.Validator {
	t.Helper()
	validators.mu.Lock()
	defer validators.mu.Unlock()
	if v, ok := validators.all[string(document)]; ok {
		return v
	}
	parsed, err := libopenapi.NewDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(parsed)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, problems := v.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Errorf("the document is not one of OpenAPI: %s: %s", p.Message, p.Reason)
		}
	}
	validators.all[string(document)] = v
	return v
}

// New returns an oracle of an OpenAPI document. The test fails at its end for every invalid exchange: call New before
// anything that serves until then.
func New(t testing.TB, document []byte) *Oracle {
	t.Helper()
	var parsed struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatal(err)
	}
	o := &Oracle{validator: validatorOf(t, document), operations: map[string][]string{}}
	for path, methods := range parsed.Paths {
		for method := range methods {
			o.operations[path] = append(o.operations[path], strings.ToUpper(method))
		}
	}
	t.Cleanup(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		const shown = 20
		for _, p := range o.problems[:min(len(o.problems), shown)] {
			t.Error(p)
		}
		if len(o.problems) > shown {
			t.Errorf("and %d more", len(o.problems)-shown)
		}
	})
	return o
}

// Of returns an oracle for the document of a service.
func Of(t testing.TB, service http.Handler) *Oracle {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+toolapi.OpenAPIPath, http.NoBody)
	service.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", toolapi.OpenAPIPath, w.Code, w.Body)
	}
	return New(t, w.Body.Bytes())
}

// Checked returns the number of exchanges of operations in the document.
func (o *Oracle) Checked() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.checked
}

// Handler returns a service whose exchanges are validated.
func (o *Oracle) Handler(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := &sample{}
		sent := r.WithContext(r.Context()) // the server needs its own to decide how to close the connection
		if r.Body != nil {
			sent.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, request), r.Body}
		}
		recorded := &recorder{ResponseWriter: w}
		service.ServeHTTP(recorded, sent)
		if r.Context().Err() != nil {
			return // the client has left
		}
		if recorded.status == 0 {
			recorded.status = http.StatusOK
		}
		o.check(r, request, recorded.status, recorded.sent, &recorded.sample)
	})
}

// Transport returns a client's transport whose exchanges are validated.
func (o *Oracle) Transport(base http.RoundTripper) http.RoundTripper { return &transport{base, o} }

type transport struct {
	base   http.RoundTripper
	oracle *Oracle
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	request := &sample{}
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(request, body); err != nil {
			return nil, err
		}
	} else if r.Body != nil && r.Body != http.NoBody {
		request.long = true
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil || !isAPI(r) {
		return resp, err
	}
	text, err := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	response := &sample{}
	_, _ = response.Write(text) // to memory
	if err == nil {
		t.oracle.check(r, request, resp.StatusCode, resp.Header, response)
	}
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), iotest.ErrReader(cmp.Or(err, io.EOF))))
	return resp, nil
}

// CloseIdleConnections serves http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// sample is a body of at most maxBody bytes.
type sample struct {
	bytes.Buffer
	long bool
}

// Write implements io.Writer.
func (s *sample) Write(b []byte) (int, error) {
	if s.long = s.long || s.Len()+len(b) > maxBody; !s.long {
		return s.Buffer.Write(b)
	}
	return len(b), nil
}

// recorder records a response.
type recorder struct {
	http.ResponseWriter
	sample
	status int
	sent   http.Header
}

// WriteHeader implements http.ResponseWriter.
func (k *recorder) WriteHeader(status int) {
	if k.status == 0 && status >= http.StatusOK {
		k.status, k.sent = status, k.Header().Clone()
	}
	k.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (k *recorder) Write(b []byte) (int, error) {
	if k.status == 0 {
		k.WriteHeader(http.StatusOK)
	}
	_, _ = k.sample.Write(b) // to memory
	return k.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (k *recorder) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// isAPI reports whether a request is for the API, and not for a page.
func isAPI(r *http.Request) bool {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	path := r.URL.EscapedPath()
	page := path == "/" || path == "/console" || strings.HasPrefix(path, "/console/")
	return !page && slices.Contains([]string{"localhost", "127.0.0.1", "[::1]", "::1"}, strings.ToLower(host))
}

// check validates one exchange.
func (o *Oracle) check(r *http.Request, request *sample, status int, header http.Header, response *sample) {
	if !isAPI(r) {
		return
	}
	operation, known := false, false // whether the document has the operation, and at least its path
	sent := strings.Split(r.URL.EscapedPath(), "/")
	for path, methods := range o.operations {
		if slices.EqualFunc(strings.Split(path, "/"), sent, func(part, s string) bool {
			return part == s || strings.HasPrefix(part, "{") && s != ""
		}) {
			operation, known = slices.Contains(methods, r.Method), true
			break
		}
	}
	if !operation {
		read := known && r.Method == http.MethodHead && status < http.StatusBadRequest // as GET
		refused := []int{401, 403, 404, 405, 429}
		if !known {
			refused = append(refused, http.StatusBadRequest) // for a malformed address
		}
		if !read && !slices.Contains(refused, status) {
			o.report(r, status, response, "the description has no such operation")
		}
		return
	}
	if response.long {
		return
	}
	o.mu.Lock()
	o.checked++
	skipped := testing.Short() && o.checked%sampled != 1
	o.mu.Unlock()
	if skipped {
		return
	}
	asked := r.Clone(r.Context())
	asked.Body = io.NopCloser(bytes.NewReader(request.Bytes()))
	answer := &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(response.Bytes())), Request: r}
	if ok, problems := o.validator.ValidateHttpResponse(asked, answer); !ok {
		o.report(r, status, response, reasons(problems))
	}
	if status >= http.StatusMultipleChoices || bytes.HasPrefix(response.Bytes(), []byte(`{"ok":false`)) || request.long {
		return
	}
	if len(bytes.TrimSpace(request.Bytes())) == 0 {
		asked.Body, asked.ContentLength = http.NoBody, 0 // spaces do not count as a body
	} else if asked.Header.Get("Content-Type") == "" {
		asked.Header.Set("Content-Type", "application/json") // the default
	}
	if ok, problems := o.validator.ValidateHttpRequest(asked); !ok {
		o.report(r, status, response,
			fmt.Sprintf("the service accepted %.300s, which is not a valid request: %s", request.Bytes(), reasons(problems)))
	}
}

// sampled: under -short, one in this many exchanges is validated. With the race detector the validator takes most of the
// time, and it finds no races.
const sampled = 8

func reasons(problems []*errors.ValidationError) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Error())
	}
	return strings.Join(all, "; ")
}

func (o *Oracle) report(r *http.Request, status int, response *sample, problem string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.problems = append(o.problems,
		fmt.Sprintf("%s %s: %d %.300s: %.800s", r.Method, r.URL.RequestURI(), status, response.Bytes(), problem))
}
