package deploy_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// A machine whose clock is an hour fast or slow shows the same expiry time of a proposal as all others: the person who confirms it reads
// another clock.
func TestProposalExpiresByTheServicesClock(t *testing.T) {
	c, err := client.New(client.Options{BaseURL: "http://127.0.0.1:8790", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	body := json.RawMessage(`{"ok": true, "state": "confirmation_required", "confirmation_id": "123e4567-e89b-42d3-a456-426614174000",
		"expires_in_seconds": 900, "request_summary": "Publish"}`)
	service := time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC)
	for _, skew := range []time.Duration{0, time.Hour, -time.Hour} {
		here := service.Add(skew)
		p, err := deploy.ProposalOf(c, "page.publish", nil, client.Response{Body: body, At: service}, here)
		if err != nil || !p.Expires.Equal(service.Add(15*time.Minute)) || !p.Proposed.Equal(service) {
			t.Errorf("%v off: %+v, %v", skew, p, err)
		}
		if p, err = deploy.ProposalOf(c, "page.publish", nil, client.Response{Body: body}, here); err != nil ||
			!p.Expires.Equal(here.Add(15*time.Minute)) {
			t.Errorf("%v off, and the service says no time: %+v, %v", skew, p, err)
		}
	}
}

// TestNoProposal: only an answer that says so proposes something, and only one that says so was done.
func TestNoProposal(t *testing.T) {
	const common = `{"ok":true,"workspace":"a","working_in":{},"site_id":"s","site_name":"s","hostname":"h","revision":"r1",
		"previous":null,"serving_now":true,`
	const proposal = `"state":"confirmation_required","confirmation_id":"123e4567-e89b-42d3-a456-426614174000",
		"expires_in_seconds":900,"request_summary":"Publish"}`
	var said string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, said) }))
	defer server.Close()
	c, err := client.New(client.Options{BaseURL: server.URL, Key: "pgk_x"})
	if err != nil {
		t.Fatal(err)
	}
	d := &deploy.Deployer{Client: c, Contract: toolapi.NewContract(), Site: "s", Now: time.Now}
	fault := func(err error) bool { _, ok := errors.AsType[*client.ContractError](err); return ok }
	for _, said = range []string{
		`{"ok":true}`, common + `"state":"done"}`, common + `"state":"confirmation_required"}`,
		common + strings.Replace(proposal, "123e4567-e89b-42d3-a456-426614174000", "1; touch x", 1),
	} {
		if p, err := d.ProposePublish(t.Context(), "r1", toolapi.BaseRevision{}, nil); p != nil || !fault(err) {
			t.Errorf("proposed with %s: %+v %v", said, p, err)
		}
	}
	for _, life := range []string{"-1", "1000000000000000000"} {
		said = common + strings.Replace(proposal, "900", life, 1)
		if p, err := d.ProposePublish(t.Context(), "r1", toolapi.BaseRevision{}, nil); err != nil || p.Expires.Before(p.Proposed) {
			t.Errorf("it lasts %s s: %+v %v", life, p, err)
		}
	}
	said = common + proposal
	p, err := d.ProposePublish(t.Context(), "r1", toolapi.BaseRevision{}, nil)
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	for _, said = range []string{`{"ok":true}`, common + proposal, `{"ok":true,"state":"done"}`} {
		if _, err := p.Confirm(t.Context(), c); !fault(err) {
			t.Errorf("confirmed with %s: %v", said, err)
		}
	}
	said = common + `"state":"done"}`
	if _, err := p.Confirm(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// TestUploaded: a proposal names the revision that would go live, and its uploaded files compare with the live ones as the bundle itself
// did.
func TestUploaded(t *testing.T) {
	w := newTestService(t)
	_, first := folder(t, 3, 10)
	_, second := folder(t, 4, 20)
	d := w.deployer(&transport{})
	if _, err := publish(t.Context(), d, first, toolapi.BaseRevision{}); err != nil {
		t.Fatal(err)
	}
	done, err := d.Send(t.Context(), second, toolapi.BaseRevision{}, &deploy.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.ProposePublish(t.Context(), done.Revision, toolapi.BaseRevision{}, nil)
	if err != nil || p.Revision != done.Revision {
		t.Fatalf("%+v, %v", p, err)
	}
	live, err := d.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	uploaded, err := d.Uploaded(t.Context(), p.Revision)
	if err != nil {
		t.Fatal(err)
	}
	got, err := deploy.Compare(live, uploaded)
	if err != nil {
		t.Fatal(err)
	}
	want, err := deploy.Compare(live, second)
	if err != nil || len(want.Added) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
	for _, name := range []string{"r1-000000000000", "../uploads", "a?b"} {
		if _, err := d.Uploaded(t.Context(), name); err == nil {
			t.Errorf("there is a revision %s", name)
		}
	}
}
