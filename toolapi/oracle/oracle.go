// Package oracle holds what a service answers to the interface description that it
// serves itself, by a validator that others wrote: every exchange of every test that
// goes through it.
//
// In goes a service's http.Handler (Handler), or a client's transport (Transport);
// out come failures of the test, when it ends. What was asked may be as wrong
// as it likes, but what succeeded must be as the description has it, and what the
// description does not have must be answered with a refusal. Pages for people, which
// are the console and the sites that are published, are not in it.
package oracle

import (
	"bytes"
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

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/errors"

	"github.com/pages-toolchain/pages/toolapi"
)

// most is how much of a body is looked at: longer ones are not of the API.
const most = 1 << 20

// Oracle holds exchanges to a description. Its methods may be called concurrently.
type Oracle struct {
	exact      validator.Validator
	operations map[string][]string // methods by path

	mu       sync.Mutex
	checked  int
	problems []string
}

// made are oracles' validators by the description they are made of, which takes a while.
var made = struct {
	mu  sync.Mutex
	all map[string]validator.Validator
}{all: map[string]validator.Validator{}}

func exactly(t testing.TB, document []byte) validator.Validator {
	t.Helper()
	made.mu.Lock()
	defer made.mu.Unlock()
	if v, ok := made.all[string(document)]; ok {
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
	made.all[string(document)] = v
	return v
}

// New returns an oracle of a description. The test fails at its end for every exchange
// that was not as the description has it, so ask for it before anything that answers
// until the test's end.
func New(t testing.TB, document []byte) *Oracle {
	t.Helper()
	var parsed struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatal(err)
	}
	o := &Oracle{exact: exactly(t, document), operations: map[string][]string{}}
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

// Of is an oracle of the description that a service serves.
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

// Checked is how many exchanges were held to an operation of the description.
func (o *Oracle) Checked() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.checked
}

// Handler is a service whose exchanges are all checked.
func (o *Oracle) Handler(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := &sample{}
		sent := r.WithContext(r.Context()) // the server looks at its own when it decides how to hang up
		if r.Body != nil {
			sent.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, asked), r.Body}
		}
		kept := &keeper{ResponseWriter: w}
		service.ServeHTTP(kept, sent)
		if r.Context().Err() != nil {
			return // the client is gone: whatever was written is no answer to anybody
		}
		if kept.status == 0 {
			kept.status = http.StatusOK
		}
		o.check(r, asked, kept.status, kept.sent, &kept.sample)
	})
}

// Transport is a client's way to a service, on which all exchanges are checked.
func (o *Oracle) Transport(base http.RoundTripper) http.RoundTripper {
	return &transport{base, func(r *http.Request) (*http.Response, error) {
		asked := &sample{}
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			if _, err := io.Copy(asked, body); err != nil {
				return nil, err
			}
		} else if r.Body != nil && r.Body != http.NoBody {
			asked.long = true
		}
		resp, err := base.RoundTrip(r)
		if err != nil || !o.ours(r) {
			return resp, err
		}
		text, err := io.ReadAll(resp.Body)
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
		answered := &sample{}
		_, _ = answered.Write(text) // to memory
		if err == nil {
			o.check(r, asked, resp.StatusCode, resp.Header, answered)
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(text), failing{err}), io.NopCloser(nil)}
		return resp, nil
	}}
}

type transport struct {
	base  http.RoundTripper
	trips func(*http.Request) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.trips(r) }

// CloseIdleConnections is what http.Client.CloseIdleConnections calls.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// failing ends a body as it ended.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// sample is a body, unless it is long.
type sample struct {
	bytes.Buffer
	long bool
}

// Write implements io.Writer.
func (s *sample) Write(b []byte) (int, error) {
	if s.long = s.long || s.Len()+len(b) > most; !s.long {
		return s.Buffer.Write(b)
	}
	return len(b), nil
}

// keeper keeps what is answered.
type keeper struct {
	http.ResponseWriter
	sample
	status int
	sent   http.Header
}

// WriteHeader implements http.ResponseWriter.
func (k *keeper) WriteHeader(status int) {
	if k.status == 0 && status >= http.StatusOK {
		k.status, k.sent = status, k.Header().Clone()
	}
	k.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (k *keeper) Write(b []byte) (int, error) {
	if k.status == 0 {
		k.WriteHeader(http.StatusOK)
	}
	_, _ = k.sample.Write(b) // to memory
	return k.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (k *keeper) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// ours reports whether a request is for the API, and not for a page.
func (o *Oracle) ours(r *http.Request) bool {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	path := r.URL.EscapedPath()
	page := path == "/" || strings.HasPrefix(path, "/console/")
	return !page && slices.Contains([]string{"localhost", "127.0.0.1", "[::1]", "::1"}, strings.ToLower(host))
}

// described finds the operation of a request; known says that there is something at
// its address at least.
func (o *Oracle) described(r *http.Request) (operation, known bool) {
	sent := strings.Split(r.URL.EscapedPath(), "/")
	for path, methods := range o.operations {
		parts := strings.Split(path, "/")
		if !slices.EqualFunc(parts, sent, func(part, s string) bool { return part == s || strings.HasPrefix(part, "{") && s != "" }) {
			continue
		}
		return slices.Contains(methods, r.Method), true
	}
	return false, false
}

// check holds one exchange to the description.
func (o *Oracle) check(r *http.Request, asked *sample, status int, header http.Header, answered *sample) {
	if !o.ours(r) {
		return
	}
	operation, known := o.described(r)
	if !operation {
		read := known && r.Method == http.MethodHead && status < http.StatusBadRequest // as GET
		refused := []int{401, 403, 404, 405, 429}
		if !known {
			refused = append(refused, http.StatusBadRequest) // of an address that cannot be one
		}
		if !read && !slices.Contains(refused, status) {
			o.report(r, status, answered, "the description has no such operation")
		}
		return
	}
	answer := &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(answered.Bytes())), Request: r}
	sent := r.Clone(r.Context())
	sent.Body = io.NopCloser(bytes.NewReader(asked.Bytes()))
	if answered.long {
		return
	}
	if !o.turn() {
		return
	}
	if ok, problems := o.exact.ValidateHttpResponse(sent, answer); !ok {
		o.report(r, status, answered, reasons(problems))
	}
	if status >= http.StatusMultipleChoices || bytes.HasPrefix(answered.Bytes(), []byte(`{"ok":false`)) || asked.long {
		return
	}
	if len(bytes.TrimSpace(asked.Bytes())) == 0 {
		sent.Body, sent.ContentLength = http.NoBody, 0 // blanks are no body
	} else if sent.Header.Get("Content-Type") == "" {
		sent.Header.Set("Content-Type", "application/json") // which is meant when nothing is said
	}
	if ok, problems := o.exact.ValidateHttpRequest(sent); !ok {
		o.report(r, status, answered, fmt.Sprintf("it was done, and %.300s is no such request: %s", asked.Bytes(), reasons(problems)))
	}
}

// sampled is how many exchanges there are to one that is checked under -short: with the
// race detector the validator takes most of the time, and races are not what it finds.
const sampled = 8

// turn counts an exchange, and reports whether it is to be checked.
func (o *Oracle) turn() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.checked++
	return !testing.Short() || o.checked%sampled == 1
}

func reasons(problems []*errors.ValidationError) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Error())
	}
	return strings.Join(all, "; ")
}

func (o *Oracle) report(r *http.Request, status int, answered *sample, problem string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.problems = append(
		o.problems,
		fmt.Sprintf("%s %s: %d %.300s: %.800s", r.Method, r.URL.RequestURI(), status, answered.Bytes(), problem),
	)
}
