package bundle

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlain holds the quick check of a path to the rules: no rule refuses a path that it passes, and names that a rule concerns do not
// pass.
func TestPlain(t *testing.T) {
	atoms := []string{
		"a", "B7", "con", "CON", "nul", "aux", "Com1", "lpt9", "context", "-", "_", ".", "pages", "pages.deploy.json",
		"html", "/", "/", "/", ".", "id_rsa", "ID_ed25519", "id_",
		".pem", ".KEY", ".p12", ".pfx", ".env", ".git", " ", "%41", "#", ":", `\`, "\x00", "\u00e9", "e\u0301", "\xff",
		strings.Repeat("x", 120), strings.Repeat("/a", 20),
	}
	random := rand.New(rand.NewPCG(1, 2))
	passed := 0
	for range 200_000 {
		var name strings.Builder
		for range 1 + random.IntN(6) {
			name.WriteString(atoms[random.IntN(len(atoms))])
		}
		p := name.String()
		if !isPlain(p) {
			continue
		}
		passed++
		for _, r := range rules {
			if r.broken(p) {
				t.Fatalf("%q passes, and %s", p, r.reason)
			}
		}
	}
	if passed < 1000 {
		t.Errorf("%d paths were plain", passed)
	}
	for _, p := range []string{"index.html", "assets/app-3f9a.js", "d001/f00001.txt", "content/monkeys.css"} {
		t.Run(p, func(t *testing.T) {
			if !isPlain(p) {
				t.Errorf("%q is not plain", p)
			}
		})
	}
}
