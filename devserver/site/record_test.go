package site

import (
	"encoding/json"
	"testing"
	"time"
)

func TestStampsHaveOneLength(t *testing.T) {
	east := time.FixedZone("east", 3600)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC), `"2026-05-06T07:08:09.000Z"`},
		{time.Date(2026, 5, 6, 7, 8, 9, 120_000_000, time.UTC), `"2026-05-06T07:08:09.120Z"`},
		{time.Date(2026, 5, 6, 7, 8, 9, 999_999_999, time.UTC), `"2026-05-06T07:08:09.999Z"`},
		{time.Date(2026, 5, 6, 0, 8, 9, 1_000_000, east), `"2026-05-05T23:08:09.001Z"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			got, err := json.Marshal(Stamp{c.at})
			if err != nil || string(got) != c.want {
				t.Errorf("%v: %s %v, want %s", c.at, got, err, c.want)
			}
			var back Stamp
			if err := json.Unmarshal(got, &back); err != nil || !back.Equal(c.at.Truncate(time.Millisecond)) {
				t.Errorf("%s is read as %v, %v", got, back, err)
			}
		})
	}
}

// Every document writes times in this form.
func TestDocumentsHaveStamps(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	b := openInbox(t, Options{Now: func() time.Time { return now }}, enquiries)
	b.do(t, nil, "POST", "/__pages/forms/contact", "name=Kim", formType)
	for document, key := range map[string]string{"leads": "created_at", "events": "created_at", "requests": "at"} {
		all := decode[map[string][]map[string]any](t, b.get(t, "/__pages/api/"+document))
		if len(all[document]) == 0 || all[document][0][key] != "2026-05-06T07:08:09.000Z" {
			t.Errorf("%s: %v", document, all)
		}
	}
}
