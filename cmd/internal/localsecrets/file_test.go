package localsecrets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// TestReadSecrets: a file from any editor is read, and an error about one never shows its content.
func TestReadSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"A=s3cret\nB=2\n":               "",
		"\ufeffA=s3cret\r\nB=\"2\"\r\n": "",
		"A=s3cret\n\nB C\nB=2\n":        ".dev.vars is not a file of secrets: line 3 is not NAME=value",
		"\ufeffA!=s3cret\r\nB=2\r\n":    ".dev.vars is not a file of secrets: line 1 is not NAME=value",
		"B=2\nA=\"s3cret\nC=1\n":        ".dev.vars is not a file of secrets: the quote of line 2 never ends",
	} {
		t.Run(text, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, DefaultFile), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			values, found, err := Read(t.Context(), dir)
			switch {
			case want == "" && (err != nil || found != DefaultFile || values["A"] != "s3cret" || values["B"] != "2"):
				t.Errorf("%q: %v in %q, %v", text, values, found, err)
			case want != "" && (err == nil || err.Error() != want):
				t.Errorf("%q: %v, want %s", text, err, want)
			case err != nil && showsSecret(err):
				t.Errorf("%q: the value is shown", text)
			}
		})
	}
}

func showsSecret(err error) bool {
	f, ok := errors.AsType[*failure.Error](err)
	return ok && strings.Contains(f.Message+f.Fix, "s3cret")
}

// TestFormat: a value survives writing and reading, and has no needless escapes, which dotenv of npm would leave in the value.
func TestFormat(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"plain", `A="plain"`},
		{"5", `A=5`},
		{"it's", `A="it's"`},
		{`["a","b"]`, `A='["a","b"]'`},
		{`c:\new`, `A='c:\new'`},
		{"$HOME `x`", "A='$HOME `x`'"},
		{"-----\n\"x\"\n", "A='-----\n\"x\"\n'"},
		{`ends in \`, `A=ends in \`},
		{`it's "both"`, `A=it's "both"`},
		{`"it's"`, "# A has quotes of both kinds, which this file cannot express: set it in the environment"},
		{"", `A=""`},
		{" a # b ", `A=" a # b "`},
	} {
		t.Run(c.value, func(t *testing.T) {
			text := Format(map[string]string{"A": c.value, "B": "x"})
			if want := c.want + "\nB=\"x\"\n"; text != want {
				t.Errorf("got %s, want %s", text, want)
			}
			if got, err := Parse("f", []byte(text)); err != nil || c.want[0] != '#' && got["A"] != c.value || got["B"] != "x" {
				t.Errorf("%s is read as %q, %v", text, got, err)
			}
		})
	}
}
