package bundler

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// namedPlaces is how many further places a problem names that was found in many.
const namedPlaces = 3

// gather makes one problem of all imports that want the same thing that is not
// there: a folder without its packages is one thing to mend, however many files
// import them. It stands at the first of the places and names a few others.
func gather(found diagnostic.List) diagnostic.List {
	found.Sort()
	var kept diagnostic.List
	first := map[string]int{}    // where each is in kept
	others := map[int][]string{} // the further places of each in kept
	for _, d := range found {
		if wantsModule(d) {
			what := d.Message + "\n" + d.Fix
			if i, known := first[what]; known {
				others[i] = append(others[i], place(d))
				continue
			}
			first[what] = len(kept)
		}
		kept = append(kept, d)
	}
	for i, places := range others {
		kept[i].Message += "; " + furtherImports(places)
	}
	return kept
}

// wantsModule reports whether a problem is about what is imported, wherever that
// is done. "./x" is another file in each folder.
func wantsModule(d diagnostic.Diagnostic) bool {
	return d.Code == "import-node" || d.Code == "import-platform" || strings.HasPrefix(d.Message, noPackage)
}

func furtherImports(places []string) string {
	if len(places) == 1 {
		return "one more import asks for it, at " + places[0]
	}
	text := fmt.Sprintf("%d more imports ask for it, at %s", len(places), strings.Join(places[:min(namedPlaces, len(places))], ", "))
	switch left := len(places) - namedPlaces; {
	case left == 1:
		text += " and one other place"
	case left > 1:
		text += fmt.Sprintf(" and %d other places", left)
	}
	return text
}
