package bundler

import (
	"encoding/json"
	"testing"
)

func TestCanonicalJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "b" : 1, "a" : [ true, null, "x" ] } `, `{"a":[true,null,"x"],"b":1}`},
		{`"<>&\u2028\u2029é\/"`, "\"<>&\u2028\u2029é/\""},
		{`"\u0000\b\t\n\f\r\u001f\"\\"`, `"\u0000\b\t\n\f\r\u001f\"\\"`},
		// The order of RFC 8785, section 3.2.3: by UTF-16, not by code point.
		{`{"\ufb33": 1, "\ud83d\ude00": 2}`, "{\"😀\":2,\"\ufb33\":1}"},
		{`[]`, `[]`},
		{`{}`, `{}`},
		{`-7`, `-7`},
	} {
		t.Run(c.in, func(t *testing.T) {
			got, err := canonicalJSON(json.RawMessage(c.in))
			if err != nil || string(got) != c.want {
				t.Errorf("%s: %s, %v, want %s", c.in, got, err, c.want)
			}
		})
	}
	for _, bad := range []any{json.RawMessage(`{"a":1,"a":2}`), json.RawMessage(`"\ud800"`), func() {}} {
		if got, err := canonicalJSON(bad); err == nil {
			t.Errorf("%v: %s", bad, got)
		}
	}
}
