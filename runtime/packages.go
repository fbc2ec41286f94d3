package runtime

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// biggestPackages names the packages that have the most source text in a bundle, by its source map, with their sizes: "svgo
// (2.1 MiB), sass (1.4 MiB)". It is empty without packages of some size.
func biggestPackages(sourceMap []byte) string {
	const most, least = 3, 100 << 10
	var listed struct {
		Sources        []string `json:"sources"`
		SourcesContent []string `json:"sourcesContent"`
	}
	if json.Unmarshal(sourceMap, &listed) != nil {
		return ""
	}
	sizes := map[string]int{}
	for i, text := range listed.SourcesContent {
		if i == len(listed.Sources) {
			break
		}
		if name := packageOf(listed.Sources[i]); name != "" {
			sizes[name] += len(text)
		}
	}
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	var shown []string
	for _, name := range names[:min(most, len(names))] {
		if sizes[name] >= least {
			shown = append(shown, fmt.Sprintf("%s (%.1f MiB)", name, float64(sizes[name])/(1<<20)))
		}
	}
	return strings.Join(shown, ", ")
}

// packageOf is the npm package that a source belongs to, the innermost folder of packages counts; "" for none.
func packageOf(source string) string {
	const folder = "node_modules/"
	at := strings.LastIndex(source, folder)
	if at < 0 {
		return ""
	}
	parts := strings.SplitN(source[at+len(folder):], "/", 3)
	if len(parts) > 2 && strings.HasPrefix(parts[0], "@") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}
