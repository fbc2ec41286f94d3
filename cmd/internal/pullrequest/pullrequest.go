// Package pullrequest keeps one comment on a pull request of GitHub up to date.
//
// Input: the variables of a GitHub workflow and a text in Markdown. The comment that begins with a marker gets the text; if there is none,
// the package creates it. Errors are *failure.Error, or those of the context. A PullRequest is for one goroutine.
//
// It reads only the key GITHUB_TOKEN, sends it only to GITHUB_API_URL, and never prints it.
package pullrequest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// PullRequest is the pull request of a workflow's run.
type PullRequest struct {
	api, repository, token string
	number                 int64
	http                   *http.Client
}

// Bounds of the input.
const (
	maxEvent    = 8 << 20 // bytes of the file of the event
	maxResponse = 16 << 20
	perPage     = 100
	maxPages    = 50 // of comments
	maxComment  = 65_000
	timeout     = 30 * time.Second
)

// repositoryName matches "owner/name".
var repositoryName = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)

// FromEnvironment finds the pull request from the variables of a GitHub workflow.
func FromEnvironment(lookup func(string) (string, bool)) (*PullRequest, error) {
	get := func(name string) string { value, _ := lookup(name); return value }
	p := &PullRequest{
		api: strings.TrimSuffix(cmp.Or(get("GITHUB_API_URL"), "https://api.github.com"), "/"), repository: get("GITHUB_REPOSITORY"),
		token: get("GITHUB_TOKEN"), http: &http.Client{Timeout: timeout},
	}
	event, err := readEvent(get("GITHUB_EVENT_PATH"))
	switch {
	case err != nil || event.PullRequest.Number <= 0 || !repositoryName.MatchString(p.repository):
		return nil, &failure.Error{
			Exit: failure.ExitUsage, Code: "no-pull-request",
			Message: "--comment is for a GitHub workflow on pull_request, and this is not one",
			Fix:     "leave it out, or run it where GITHUB_EVENT_PATH and GITHUB_REPOSITORY name a pull request", Err: err,
		}
	case p.token == "":
		return nil, &failure.Error{
			Exit: failure.ExitUsage, Code: "no-github-token",
			Message: "--comment needs GITHUB_TOKEN, with the permission pull-requests: write",
			Fix:     "give the step env: GITHUB_TOKEN: ${{ github.token }}",
		}
	}
	if u, err := url.Parse(p.api); err != nil || u.Host == "" || u.Scheme != "https" && !isLoopback(u.Hostname()) {
		return nil, failure.Usage("GITHUB_API_URL is %q; it must be an https address", p.api)
	}
	p.number = event.PullRequest.Number
	return p, nil
}

func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// event holds the fields of the event that triggered a workflow.
type event struct {
	PullRequest struct {
		Number int64 `json:"number"`
	} `json:"pull_request"`
}

func readEvent(file string) (e event, err error) {
	f, err := os.Open(file)
	if err != nil {
		return e, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEvent))
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(text, &e)
}

// comment is a comment in a response of GitHub.
type comment struct {
	ID          int64  `json:"id"`
	Body        string `json:"body"`
	Association string `json:"author_association"`
	User        struct {
		Type string `json:"type"`
	} `json:"user"`
}

// trusted reports whether the author of a comment is a workflow or one of the repository's people. Others could write a comment with the
// marker first, and edit it afterwards.
func (c comment) trusted() bool {
	return c.User.Type == "Bot" || slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, c.Association)
}

// Write sets the text of the comment that begins with the marker, or creates it. The marker is an HTML comment, which readers do not see.
func (p *PullRequest) Write(ctx context.Context, marker, text string) error {
	body := marker + "\n" + text
	if len(body) > maxComment {
		body = strings.ToValidUTF8(body[:maxComment], "") + "\n…"
	}
	sent := map[string]string{"body": body}
	for page := 1; page <= maxPages; page++ {
		var list []comment
		path := fmt.Sprintf("/repos/%s/issues/%d/comments?per_page=%d&page=%d", p.repository, p.number, perPage, page)
		if err := p.call(ctx, http.MethodGet, path, nil, &list); err != nil {
			return failed(err)
		}
		for _, c := range list {
			if !strings.HasPrefix(c.Body, marker) || !c.trusted() {
				continue
			}
			err := p.call(ctx, http.MethodPatch, fmt.Sprintf("/repos/%s/issues/comments/%d", p.repository, c.ID), sent, nil)
			// The token may only have the right to change its own comments.
			refused, ok := errors.AsType[*statusError](err)
			if ok && (refused.status == http.StatusForbidden || refused.status == http.StatusNotFound) {
				continue
			}
			return failed(err)
		}
		if len(list) < perPage {
			break
		}
	}
	return failed(p.call(ctx, http.MethodPost, fmt.Sprintf("/repos/%s/issues/%d/comments", p.repository, p.number), sent, nil))
}

// statusError is a refusal by GitHub.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.status, cmp.Or(e.message, http.StatusText(e.status))))
}

func (p *PullRequest) call(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, p.api+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Accept", "application/vnd.github+json")
	r.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.http.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		var said struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(text, &said) // HTML has no such text
		return &statusError{resp.StatusCode, said.Message}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// failed is the failure to write a comment.
func failed(err error) error {
	if err == nil || errors.As(err, new(*failure.Error)) || errors.Is(err, context.Canceled) {
		return err
	}
	f := &failure.Error{
		Exit: failure.ExitNetwork, Code: "comment-unwritable", Message: "the comment on the pull request cannot be written: " + err.Error(),
		Fix: "run the job again", Err: err,
	}
	if refused, ok := errors.AsType[*statusError](err); ok && refused.status < http.StatusInternalServerError {
		f.Exit, f.Fix = failure.ExitRefused, "give the job permissions: pull-requests: write"
	}
	return f
}
