package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
)

// TestIntlPackages runs the documentation's examples of packages for dates and
// messages, in a real Worker. The expected results are Node 20's.
func TestIntlPackages(t *testing.T) {
	d := startDev(t, filepath.Join(copyExample(t, "packages"), "intl"))
	for topic, want := range map[string]map[string]any{
		"luxon": {
			"full": "29 février 2024 à 14:05 UTC+1", "huge": "Donnerstag, 29. Februar 2024", "iso": "2024-02-29T08:05:09.123-05:00",
			"name": "Central European Standard Time", "format": "jueves, 29 febrero 2024 14:05 CET", "parsed": "1982-05-25",
			"months": "sty,lut,mar,kwi,maj,cze,lip,sie,wrz,paź,lis,gru", "relative": "tra 3 giorni", "human": "2 uur, 7 minuten",
			"interval": "Feb 29 – Mar 2, 2024", "valid": "true,false",
		},
		"date-fns": {
			"berlin": "2024-02-29 14:05:09 GMT+1", "long": "Donnerstag, 29 Februar 2024 Nordamerikanische Ostküsten-Normalzeit",
			"back": "2014-06-25T17:00:00.000Z", "zoned": 19.0,
		},
		"dayjs": {"toronto": "2013-11-18T11:55:00-05:00", "zone": "2024-02-29 22:05 +09:00", "guess": "UTC"},
		"messages": {
			"cart": "1.234 Artikel für 9,50\u00a0€, 2. am 29. Februar 2024", "list": "Ich, du und wir",
			"relative": "gestern", "name": "Türkei",
			"parts": 5.0, "range": "29.02. – 01.03.2024",
		},
	} {
		t.Run(topic, func(t *testing.T) {
			a := d.get("/" + topic)
			var got map[string]any
			if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.StatusCode != http.StatusOK || len(got) != len(want) {
				t.Errorf("%s: %d %s", topic, a.StatusCode, a.body)
				return
			}
			for name, value := range got {
				if value != want[name] {
					t.Errorf("%s: %s: %q, want %q", topic, name, value, want[name])
				}
			}
		})
	}
}
