package project

import (
	"os"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// The modes of a site's files "_headers" and "_redirects", of which the platform's document does not speak.
const (
	EdgeRulesOn  = "on"
	EdgeRulesOff = "off"
)

// EdgeRules returns the rules of the site in dir, whose manifest is valid. Where a file has changed since and is broken
// now, its valid lines count: the next build reports the others.
func EdgeRules(choice, dir string, m *manifest.Manifest) *edgerules.Rules {
	if choice == EdgeRulesOff {
		return nil
	}
	rules, _ := edgerules.Load(os.DirFS(dir), m.Assets)
	return rules
}
