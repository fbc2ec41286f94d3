package devsession

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// snippetReach is how many lines are shown around a fault.
const snippetReach = 3

// snippet returns the lines around one of a file of the site, without secrets.
func snippet(dir, file string, line int, secrets *secretscan.Set) []devserver.SnippetLine {
	root, err := os.OpenRoot(dir)
	if err != nil || line <= 0 {
		return nil
	}
	defer root.Close()
	file = filepath.FromSlash(file)
	if info, err := root.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := root.ReadFile(file)
	if err != nil {
		return nil
	}
	shown := secrets.Star(string(text))
	if filepath.Base(file) == sitepath.HeadersFile {
		shown = edgerules.StarHeaders(shown)
	}
	var out []devserver.SnippetLine
	number := 0
	for l := range strings.Lines(shown) {
		if number++; number > line+snippetReach {
			break
		}
		if number >= line-snippetReach {
			out = append(out, devserver.SnippetLine{Number: number, Text: strings.TrimRight(l, "\r\n"), Hit: number == line})
		}
	}
	return out
}
