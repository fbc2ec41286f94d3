package publicfiles

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestPlainNames holds the quick check of a name to the rules: no rule refuses a name that it passes.
func TestPlainNames(t *testing.T) {
	testmachine.Unraced(t)
	atoms := []string{
		"a", "B7", "con", "CON", "nul", "aux", "com1", "lpt9", "LPT²", "conin$", "context", "prn", "-", "_", "__", ".", "..", "pages",
		"__pages", "__preview", "well-known", "html", "/", "/", "/", ".",
		" ", "%41", "#", "?", ":", `\`, "\x00", "\n", "\u00e9", "e\u0301", "\xff", "\u200b", strings.Repeat("x", 120),
		strings.Repeat("/a", 20),
	}
	random := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 200_000 {
		var name strings.Builder
		for range 1 + random.IntN(6) {
			name.WriteString(atoms[random.IntN(len(atoms))])
		}
		p := strings.TrimPrefix(strings.TrimSuffix(name.String(), "/"), "/")
		for segment := range strings.SplitSeq(p, "/") {
			if WindowsDevice(segment) != windowsName().MatchString(segment) {
				t.Fatalf("%q: the quick look says otherwise", segment)
			}
		}
		if !plainName(p) {
			continue
		}
		plain++
		if code, reason := slowNameFault(p); code != "" {
			t.Fatalf("%q passes, and %s", p, reason)
		}
	}
	if plain < 1000 {
		t.Errorf("%d names were plain", plain)
	}
	for _, p := range []string{"index.html", "assets/app-3f9a.js", ".well-known/acme", "d001/f00001.txt", "_redirects.txt"[1:]} {
		t.Run(p, func(t *testing.T) {
			if !plainName(p) {
				t.Errorf("%q is not plain", p)
			}
		})
	}
}
