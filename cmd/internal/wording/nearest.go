package wording

import (
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// Nearest returns the name of names that a mistyped or unfinished one most likely means, "" for none.
func Nearest(name string, names []string) string {
	if near := diagnostic.Nearest(name, names); near != "" {
		return near
	}
	unfinished := func(whole string) bool { return name != "" && strings.HasPrefix(whole, strings.ToLower(name)) }
	if i := slices.IndexFunc(names, unfinished); i >= 0 {
		return names[i]
	}
	return ""
}
