package deploy_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// A machine whose clock is an hour ahead, or behind, says when a proposal expires as
// everybody else does: who confirms it reads another clock.
func TestProposalExpiresByTheServicesClock(t *testing.T) {
	c, err := client.New(client.Options{BaseURL: "http://127.0.0.1:8790", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	body := json.RawMessage(`{"ok": true, "state": "confirmation_required", "confirmation_id": "123e4567-e89b-42d3-a456-426614174000", "expires_in_seconds": 900, "request_summary": "Publish"}`)
	service := time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC)
	for _, skew := range []time.Duration{0, time.Hour, -time.Hour} {
		here := service.Add(skew)
		p, err := deploy.ProposalOf(c, "page.publish", nil, client.Answer{Body: body, At: service}, here)
		if err != nil || !p.Expires.Equal(service.Add(15*time.Minute)) || !p.Proposed.Equal(service) {
			t.Errorf("%v off: %+v, %v", skew, p, err)
		}
		if p, err = deploy.ProposalOf(c, "page.publish", nil, client.Answer{Body: body}, here); err != nil || !p.Expires.Equal(here.Add(15*time.Minute)) {
			t.Errorf("%v off, and the service says no time: %+v, %v", skew, p, err)
		}
	}
}
