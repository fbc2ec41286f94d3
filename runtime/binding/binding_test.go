package binding

import (
	"net/http"
	"slices"
	"testing"

	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

func TestEnvSpec(t *testing.T) {
	cases := []struct {
		set  *Set
		want string
	}{
		{nil, `{}`},
		{
			&Set{
				R2:      map[string]*r2.Bucket{"BUCKET": nil},
				Images:  map[string]*images.Binding{"IMAGES": nil},
				Assets:  map[string]http.Handler{"ASSETS": nil},
				Secrets: map[string]string{"API_KEY": `s"3`, "EMPTY": ""},
			},
			`{"API_KEY":{"kind":"secret","value":"s\"3"},"ASSETS":{"kind":"assets","id":"ASSETS"},"BUCKET":{"kind":"storage",` +
				`"id":"BUCKET"},` +
				`"EMPTY":{"kind":"secret"},"IMAGES":{"kind":"images","id":"IMAGES"}}`,
		},
		{
			&Set{R2: map[string]*r2.Bucket{"X": nil}, Secrets: map[string]string{"X": "1"}},
			`the name "X" is given to a storage and to a secret`,
		},
	}
	for _, c := range cases {
		got, err := c.set.EnvSpec()
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || !slices.Contains(names, "r2_get") || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names = %v", names)
	}
}
