package scaffold

import (
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/editor"
)

// TestWithBlock: the block comes to the end or in the place of an earlier one, other bytes stay, and a second time changes nothing.
func TestWithBlock(t *testing.T) {
	old := blockBegin + "\nold\n" + blockEnd
	own := strings.TrimSuffix(agentsBlock, "\n")
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for name, c := range map[string]struct{ src, want string }{
		"new file":         {"", own + "\n"},
		"no line end":      {"a", "a\n\n" + own + "\n"},
		"line end":         {"a\n", "a\n\n" + own + "\n"},
		"CRLF":             {"a\r\nb", crlf("a\nb\n\n" + own + "\n")},
		"only block":       {old, own},
		"in the middle":    {"a\n" + old + "\nb", "a\n" + own + "\nb"},
		"CRLF, block":      {crlf("a\n" + old + "\nb\n"), crlf("a\n" + own + "\nb\n")},
		"blank at the end": {"a\n" + blockBegin + " \n" + blockEnd + "\t\nb", "a\n" + own + "\t\nb"},
		"in a sentence":    {"see " + blockBegin + "\n", "see " + blockBegin + "\n\n" + own + "\n"},
	} {
		got, err := withBlock([]byte(c.src))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
			continue
		}
		if again, err := withBlock(got); err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time gives %q, %v", name, again, err)
		}
	}
	for name, src := range map[string]string{
		"no end":     "a\n" + blockBegin + "\n",
		"no begin":   "a\n" + blockEnd + "\n",
		"two blocks": old + "\n" + old + "\n",
		"end first":  blockEnd + "\n" + blockBegin + "\n",
	} {
		if got, err := withBlock([]byte(src)); !errors.As(err, new(*editor.SettingsError)) {
			t.Errorf("%s: %q, %v, want a refusal", name, got, err)
		}
	}
}
