package devagent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// This file has the tools that send requests to the site.

func (t *tools) addRequests() {
	add(t, "explain_route", reads,
		"Explains in words which rule of the manifest takes a path, who may see it, and whether the Worker or a file answers. "+
			"It sends no request. Use it when a path gives an unexpected 401, 404 or 405.",
		t.explain,
	)
	add(t, "send_request", reads,
		"Sends one request to the running site and returns status, headers, body and a trace_id for the tool trace. It follows "+
			"no redirect and keeps cookies. Methods other than GET and HEAD need --allow-write.",
		t.send,
	)
	add(t, "sign_in_as", reads,
		"Signs in a persona of .pages/members.json, such as member or outsider, for all later calls of send_request. An empty "+
			"persona signs out. Use it to test members pages.",
		t.signIn,
	)
}

// client follows no redirect and uses no proxy: a request stays on the site.
var client = &http.Client{
	Transport:     &http.Transport{},
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// routeArguments are the arguments of explain_route.
type routeArguments struct {
	Method string `json:"method,omitempty" jsonschema:"the method; GET without it"`
	Path   string `json:"path" jsonschema:"the path, such as /club/news"`
	As     string `json:"as,omitempty" jsonschema:"the persona or email of a signed-in visitor; a signed-out one without it"`
}

func (t *tools) explain(ctx context.Context, in routeArguments) (any, error) {
	args := []string{"routes", "explain"}
	if t.EdgeRules != "" {
		args = append(args, "--edge-rules="+t.EdgeRules)
	}
	if in.As != "" {
		args = append(args, "--as="+in.As)
	}
	var explanation json.RawMessage
	err := t.Commands.decode(ctx, &explanation, "", append(args, "--", cmp.Or(in.Method, http.MethodGet), in.Path)...)
	return explanation, err
}

// sendArguments are the arguments of send_request.
type sendArguments struct {
	Method  string            `json:"method,omitempty" jsonschema:"the method; GET without it"`
	Path    string            `json:"path" jsonschema:"the path and the query, such as /api/notes?page=2"`
	Headers map[string]string `json:"headers,omitempty" jsonschema:"request headers by name"`
	Body    string            `json:"body,omitempty" jsonschema:"the body, as text"`
	As      string            `json:"as,omitempty" jsonschema:"the persona of this request alone"`
}

// response is the result of send_request.
type response struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`             // the beginning, if it is text
	Bytes   int64             `json:"bytes"`            // of the whole body, as far as it was read
	Cut     bool              `json:"cut,omitempty"`    // the body has more
	Binary  bool              `json:"binary,omitempty"` // the body is not text
	Millis  int64             `json:"ms"`
	TraceID string            `json:"trace_id"`
	As      string            `json:"signed_in_as,omitempty"`
}

const (
	maxShown = 16 << 10 // bytes of a body in a result
	maxRead  = 8 << 20  // bytes of a body that are read
)

func (t *tools) send(ctx context.Context, in sendArguments) (any, error) {
	method := strings.ToUpper(cmp.Or(in.Method, http.MethodGet))
	if method != http.MethodGet && method != http.MethodHead && !t.AllowWrite {
		return nil, t.refuseWrite("a request of the method " + method)
	}
	req, err := t.newRequest(ctx, method, in)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	jar, persona := t.jar, t.persona
	t.mu.Unlock()
	if in.As != "" {
		if jar, err = t.session(ctx, in.As); err != nil {
			return nil, err
		}
		persona = in.As
	}
	traceID := randomHex(16)
	req.Header.Set("Traceparent", "00-"+traceID+"-"+randomHex(8)+"-01")
	sender := *client
	sender.Jar = jar
	began := t.Commands.Terminal.Now()
	resp, err := sender.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the site did not answer: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRead))
	took := t.Commands.Terminal.Now().Sub(began)
	out := response{
		Status: resp.StatusCode, Headers: map[string]string{}, Bytes: int64(len(body)), Millis: took.Milliseconds(),
		TraceID: traceID, As: persona,
	}
	if err != nil {
		return nil, fmt.Errorf("the response ended early, after %d bytes: %w; call problems, then trace with %s", len(body), err, traceID)
	}
	for name, values := range resp.Header {
		out.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	shown := body[:min(len(body), maxShown)]
	for len(shown) > 0 && len(shown) < len(body) && !utf8.RuneStart(body[len(shown)]) {
		shown = shown[:len(shown)-1]
	}
	out.Cut, out.Binary = len(shown) < len(body), !utf8.Valid(shown) || bytes.IndexByte(shown, 0) >= 0
	if !out.Binary {
		out.Body = string(shown)
	}
	return out, nil
}

// newRequest makes the request of an agent.
func (t *tools) newRequest(ctx context.Context, method string, in sendArguments) (*http.Request, error) {
	r, ok := t.Server()
	if !ok {
		return nil, errNoServer
	}
	if !strings.HasPrefix(in.Path, "/") {
		return nil, errors.New(`path must begin with "/", as in /api/notes`)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL+in.Path, strings.NewReader(in.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range in.Headers {
		if slices.Contains([]string{"Host", "Connection", "Content-Length", "Transfer-Encoding"}, http.CanonicalHeaderKey(name)) {
			return nil, fmt.Errorf("the header %s cannot be set: leave it out", name)
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// personaArguments are the arguments of sign_in_as.
type personaArguments struct {
	Persona string `json:"persona" jsonschema:"the key of a persona, or an email; empty to sign out"`
}

// personaReport is the result of sign_in_as.
type personaReport struct {
	As string `json:"signed_in_as"` // empty for a signed-out visitor
}

func (t *tools) signIn(ctx context.Context, in personaArguments) (any, error) {
	var jar http.CookieJar
	if in.Persona != "" {
		var err error
		if jar, err = t.session(ctx, in.Persona); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.signOut()
	if jar != nil {
		t.jar, t.persona = jar, in.Persona
	}
	return personaReport{in.Persona}, nil
}

// session signs a persona in, and returns its cookies.
func (t *tools) session(ctx context.Context, persona string) (http.CookieJar, error) {
	r, ok := t.Server()
	if !ok {
		return nil, errNoServer
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	form := url.Values{"persona": {persona}}
	if strings.Contains(persona, "@") {
		form = url.Values{"email": {persona}}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/__pages/sign-in", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	sender := *client
	sender.Jar = jar
	resp, err := sender.Do(req)
	if err != nil {
		return nil, errors.Join(errNoServer, err)
	}
	defer resp.Body.Close()
	var refusal struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxShown))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = json.Unmarshal(text, &refusal) // the status says enough
		reason := cmp.Or(refusal.Message, refusal.Error.Message, http.StatusText(resp.StatusCode))
		return nil, fmt.Errorf("%q cannot sign in: %s; .pages/members.json lists the personas", persona, reason)
	}
	return jar, nil
}
