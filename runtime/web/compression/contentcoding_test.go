package compression

import (
	"cmp"
	"testing"
)

func TestAccepts(t *testing.T) {
	for header, want := range map[string]bool{
		"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "*": true, "": false, "x-gzip2": false, "gzip; q=0.0": false,
		"identity": false,
	} {
		t.Run(cmp.Or(header, "no header"), func(t *testing.T) {
			if Accepts(header, "gzip") != want {
				t.Errorf("%q", header)
			}
		})
	}
}
