package fetch

import (
	"cmp"
	"testing"
)

func TestCheckIntegrity(t *testing.T) {
	const (
		good256 = "sha256-mSqTRVxx/t02rJu8Q5lSwEHPYURZWEcq9Hkmm42HNRM="
		good384 = "sha384-wJ+9COaOEBr511GpX8FPICUUGdtDJGVpE+cMEVHnorfqhNOKU0OFEcuzMkLes/sz"
		good512 = "sha512-S7h5eeUV67g9BeD6y+ExjZfkiAaiHvwVb35UZJbJX5p6DR6+phDfnrnlwcUcUA/CNYHVFFkToChUPIUqBb1whQ=="
	)
	for integrity, want := range map[string]bool{
		"": true, " \t": true, "unknown": true, "md5-AAAA": true,
		good256: true, good384: true, good512: true, "SHA256" + good256[6:]: true, good256 + "?option": true,
		"sha256-AAAA": false, "sha256-": false, "sha512-!": false, "sha256": false,
		"sha256-AAAA " + good256: true, "sha256-AAAA\n" + good384: true, good256 + " sha512-AAAA": false,
		"sha384-AAAA " + good256: false, "md5-AAAA sha512-AAAA " + good512: true,
	} {
		t.Run(cmp.Or(integrity, "none"), func(t *testing.T) {
			if checkIntegrity(integrity, []byte("fixed")) != want {
				t.Errorf("%q: %v", integrity, !want)
			}
		})
	}
}
