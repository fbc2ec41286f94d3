package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestCryptoPackages runs the documentation's examples of packages that use crypto.subtle
// and the compression streams, in a real Worker.
func TestCryptoPackages(t *testing.T) {
	d := startDev(t, filepath.Join(copyExample(t, "packages"), "crypto"))
	for topic, want := range map[string]map[string]any{
		"jose":     nil, // wentWell checks each value
		"noble":    nil,
		"zip":      {"zip": "a.txt,dir/,dir/b.txt b"},
		"oauth":    {"sub": "them", "proof": 1.0, "claims": "aud,exp,iat,iss,nonce,sub", "refused": "invalid_grant"},
		"webauthn": {"counter": 1.0, "changed": false},
	} {
		t.Run(topic, func(t *testing.T) {
			a := d.get("/" + topic)
			var got map[string]any
			if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.StatusCode != http.StatusOK || len(got) == 0 {
				t.Errorf("%s: %d %s", topic, a.StatusCode, a.body)
				return
			}
			for name, value := range got {
				if expected, ok := want[name]; ok && value != expected || !ok && !wentWell(value) {
					t.Errorf("%s: %s: %v", topic, name, value)
				}
			}
		})
	}
}

// wentWell reports whether a value means success: true, 1, or the expected text for a token of jose.
func wentWell(value any) bool {
	switch v := value.(type) {
	case bool:
		return v
	case float64:
		return v == 1
	case string:
		return v == "them,secret,true" ||
			strings.HasPrefix(v, "urn:example:issuer,true,ERR_JWT_CLAIM_VALIDATION_FAILED,ERR_JWS_SIGNATURE_VERIFICATION_FAILED,") &&
				!strings.HasSuffix(v, "false")
	}
	return false
}
