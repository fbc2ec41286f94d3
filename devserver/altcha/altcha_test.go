package altcha_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/devserver/altcha"
)

var start = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

// solve finds a solution, as the widget does.
func solve(t *testing.T, c altcha.Challenge) map[string]any {
	t.Helper()
	for n := range c.MaxNumber + 1 {
		if sum := sha256.Sum256(fmt.Append([]byte(c.Salt), n)); hex.EncodeToString(sum[:]) == c.Challenge {
			return map[string]any{
				"algorithm": c.Algorithm, "challenge": c.Challenge, "number": n, "salt": c.Salt, "signature": c.Signature, "took": 12,
			}
		}
	}
	t.Fatal("the challenge has no solution")
	return nil
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// TestVerify: a solution counts once, within its time; any other value is forged, or does not count.
func TestVerify(t *testing.T) {
	c := altcha.New([]byte("a key"))
	solved := encode(t, solve(t, c.Make(start)))
	if got := c.Verify(solved, "", start.Add(altcha.Life-time.Second)); got != altcha.Solved {
		t.Errorf("a solution: %d", got)
	}
	if got := c.Verify(solved, "", start); got != altcha.Forged {
		t.Errorf("the same solution again: %d", got)
	}
	if got := c.Verify("", "", start); got != altcha.Absent {
		t.Errorf("no solution: %d", got)
	}
	if got := c.Verify(encode(t, solve(t, c.Make(start))), "", start.Add(altcha.Life)); got != altcha.Absent {
		t.Errorf("a solution that has expired: %d", got)
	}
	repeated := encode(t, solve(t, c.Make(start)))
	for _, r := range []struct {
		post string
		want altcha.State
	}{{"contact a", altcha.Solved}, {"contact a", altcha.Solved}, {"contact b", altcha.Forged}, {"", altcha.Forged}} {
		if got := c.Verify(repeated, r.post, start); got != r.want {
			t.Errorf("a solution with the post %q: %d, want %d", r.post, got, r.want)
		}
	}
	other := altcha.New([]byte("another key"))
	if got := c.Verify(encode(t, solve(t, other.Make(start))), "", start); got != altcha.Forged {
		t.Errorf("a solution for another site: %d", got)
	}
	changed := func(name string, value any) string {
		s := solve(t, c.Make(start))
		s[name] = value
		return encode(t, s)
	}
	for name, text := range map[string]string{
		"number": changed("number", -1), "fraction": changed("number", 1.5), "algorithm": changed("algorithm", "SHA-1"),
		"salt": changed("salt", "x"), "challenge": changed("challenge", "00"), "signature": changed("signature", ""),
		"no base64": "{}", "no JSON": "e30x", "null": "bnVsbA==", "long": encode(t, map[string]string{"salt": strings.Repeat("a", 5000)}),
	} {
		if got := c.Verify(text, "", start); got != altcha.Forged {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// TestNoSplice: digits moved from the number to the time do not make a longer-lived solution.
func TestNoSplice(t *testing.T) {
	c := altcha.New([]byte("a key"))
	s := solve(t, c.Make(start))
	for digits := ""; len(digits) < 2 || digits[1] == '0'; digits = fmt.Sprint(s["number"]) {
		s = solve(t, c.Make(start))
	}
	digits := fmt.Sprint(s["number"])
	s["salt"], s["number"] = fmt.Sprint(s["salt"], digits[:1]), json.Number(digits[1:]) // the hash stays the same
	if got := c.Verify(encode(t, s), "", start); got != altcha.Forged {
		t.Errorf("a spliced solution: %d", got)
	}
}
