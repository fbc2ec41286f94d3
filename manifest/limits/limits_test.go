package limits_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// TestRows: each row sets the field that the manifest has under its key, and its figures are in order.
func TestRows(t *testing.T) {
	for _, l := range limits.All() {
		t.Run(l.Key, func(t *testing.T) {
			var r limits.Requests
			l.Set(&r, 7)
			text, err := json.Marshal(r)
			if want := `{"` + l.Key + `":` + strconv.Itoa(l.Of(r)) + `}`; err != nil || string(text) != want || l.Of(r) != 7 {
				t.Errorf("%s %v, want %s", text, err, want)
			}
			if l.Default < 1 || l.Ceiling < l.Default {
				t.Errorf("default %d, ceiling %d", l.Default, l.Ceiling)
			}
		})
	}
}

func ExampleLimit_Amount() {
	fmt.Println(limits.CPUMs.Amount(500))
	fmt.Println("do less, or " + limits.CPUMs.Raise())
	// Output:
	// 500 ms a request
	// do less, or raise limits.cpuMs (at most 30000) in pages.deploy.json
}
