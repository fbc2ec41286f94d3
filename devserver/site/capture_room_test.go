package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestLeadsHaveABound: visitors fill the database only so far. Who is refused is told so, what
// was acknowledged stays, also for who sends it again, and members can sign in and read it.
func TestLeadsHaveABound(t *testing.T) {
	f := start(t, Options{DevHints: true}, Revision{})
	f.site.store.most = 400_000
	send := func(token string) int {
		t.Helper()
		form := url.Values{"form": {"contact"}, "_token": {token}, "name": {token + strings.Repeat("x", 60_000)}}
		r, err := f.client(t).PostForm(f.server.URL+"/__pages/forms", form)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		return r.StatusCode
	}
	taken := 0
	for ; taken < 20; taken++ {
		if got := send(fmt.Sprint("token", taken)); got == http.StatusInsufficientStorage {
			break
		}
	}
	if taken == 0 || taken == 20 {
		t.Fatalf("%d leads were taken", taken)
	}
	if got := send("token0"); got == http.StatusInsufficientStorage {
		t.Error("what was taken before is refused when it is sent again")
	}
	var list LeadList
	if err := json.Unmarshal([]byte(f.get(t, "/__pages/api/leads").body), &list); err != nil || len(list.Leads) != taken {
		t.Errorf("%d leads of %d, %v", len(list.Leads), taken, err)
	}
	if got := f.do(t, f.as(t, "member"), "GET", "/__pages/api/leads", ""); got.status != http.StatusOK {
		t.Errorf("a member gets %d", got.status)
	}
}
