//go:build !linux

package doctor

import "github.com/pages-toolchain/pages/cmd/internal/wording"

// watchLimits has nothing to compare: the system sets no limit of its own.
func watchLimits(folders int) []Finding {
	return well("watching", "%s", wording.Count(folders, "folder"))
}
