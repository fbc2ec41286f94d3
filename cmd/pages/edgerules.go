package main

import (
	"os"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest"
)

// This file is the switch for a site's files "_headers" and "_redirects", of which
// the platform's document does not speak.

const (
	edgeRulesOn    = "on"
	edgeRulesOff   = "off"
	edgeRulesUsage = "`mode` in which the site's _headers and _redirects count, which the platform's document does not speak of: on, off"
)

func checkEdgeRules(choice string) error {
	if choice != edgeRulesOn && choice != edgeRulesOff {
		return failure.Usage("--edge-rules is %q; it is on or off", choice)
	}
	return nil
}

// edgeRules are the rules of the site in dir, whose manifest is valid. A file that
// has changed since and is broken now keeps the lines that are not: the next
// build, which is on its way, tells.
func edgeRules(choice, dir string, m *manifest.Manifest) *manifest.EdgeRules {
	if choice == edgeRulesOff {
		return nil
	}
	rules, _ := manifest.LoadEdgeRules(os.DirFS(dir), m.Assets)
	return rules
}
