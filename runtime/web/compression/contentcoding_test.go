package compression

import "testing"

func TestAccepts(t *testing.T) {
	for header, want := range map[string]bool{
		"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "*": true, "": false, "x-gzip2": false, "gzip; q=0.0": false,
		"identity": false,
	} {
		if Accepts(header, "gzip") != want {
			t.Errorf("%q", header)
		}
	}
}
