package editor_test

import (
	"errors"
	"testing"

	"github.com/pages-toolchain/pages/manifest/editor"
)

// TestAddMember: the member is added in the file's own layout, and an existing one stays.
func TestAddMember(t *testing.T) {
	value := map[string]string{"command": "x"}
	for name, c := range map[string]struct{ src, want string }{
		"empty": {"", "{\n  \"servers\": {\n    \"own\": {\n      \"command\": \"x\"\n    }\n  }\n}\n"},
		"no servers": {
			"{\n\t\"a\": 1\n}\n",
			"{\n\t\"a\": 1,\n\t\"servers\": {\n\t\t\"own\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t}\n}\n",
		},
		"no member":   {`{"servers": {}}`, "{\"servers\": {\n  \"own\": {\n    \"command\": \"x\"\n  }\n}}"},
		"comment":     {"{\n  // ours\n  \"servers\": {\n    \"b\": 1, // one\n  },\n}\n", ""},
		"has it":      {`{"servers": {"own": {"command": "changed"}}}`, `{"servers": {"own": {"command": "changed"}}}`},
		"has it null": {`{"servers": {"own": null}}`, `{"servers": {"own": null}}`},
	} {
		got, err := editor.AddMember([]byte(c.src), []string{"servers"}, "own", value)
		if c.want == "" {
			c.want = "{\n  // ours\n  \"servers\": {\n    \"b\": 1, // one\n    \"own\": {\n      \"command\": \"x\"\n    },\n  },\n}\n"
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
		if again, err := editor.AddMember(got, []string{"servers"}, "own", value); err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time gives %s, %v", name, again, err)
		}
	}
	for _, src := range []string{`[]`, `{"servers": 1}`, `{"servers": {`, `nonsense`} {
		if got, err := editor.AddMember([]byte(src), []string{"servers"}, "own", value); !errors.As(err, new(*editor.SettingsError)) {
			t.Errorf("%s: %s, %v, want a refusal", src, got, err)
		}
	}
}
