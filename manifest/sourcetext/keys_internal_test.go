package sourcetext

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMayHoldKey: the expression finds no key in a text that the quick check skips.
func TestMayHoldKey(t *testing.T) {
	atoms := append([]string{
		"/", "club", "a", "Z9", "_", "-", ".", " ", "=", "@", ":", "://", "https", "password", "token", "s", "r", "k_", "live_", "gh", "o_",
		"xox", "0123456789ab", "sk", "SG", "eyI", "-----", "BEGIN", "\u00e9",
	}, keyBegins[:]...)
	random := rand.New(rand.NewPCG(1, 2))
	var held, passed int
	for range 100_000 {
		var text strings.Builder
		for range 1 + random.IntN(6) {
			text.WriteString(atoms[random.IntN(len(atoms))])
		}
		s := text.String()
		found := keyText().MatchString(s)
		if found && !mayHoldKey(s) {
			t.Fatalf("the key in %q is not found", s)
		}
		if found {
			held++
		}
		if !mayHoldKey(s) {
			passed++
		}
	}
	if held < 1000 || passed < 1000 {
		t.Errorf("%d of the texts hold a key, and %d may not", held, passed)
	}
}
