package migrationfiles

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file warns when the order of the names differs from the order of their numbers: authors and other tools expect the numbers to count.

// dated matches a name that begins with a day, such as 2026-11-22, which is not a number.
var dated = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}`)

// IsDated reports whether a name begins with a day, such as 2026-11-22.
func IsDated(name string) bool { return dated.MatchString(name) }

// Number returns the digits at the beginning of a name, as written; "" for none, and for a day.
func Number(name string) string {
	if IsDated(name) {
		return ""
	}
	return name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
}

// checkOrder compares the numbers of each two consecutive migrations. It reports the first pair out of order only: one fix
// mends all.
func checkOrder(dir string, names []string) (found []Finding) {
	previous, disordered := "", false
	for _, name := range names {
		before := previous
		if Number(name) == "" {
			continue
		}
		previous = name
		if before == "" {
			continue
		}
		switch c := compareNumbers(Number(before), Number(name)); {
		case c > 0 && !disordered:
			disordered = true
			found = append(found, warn(path.Join(dir, name), diagnostic.CodeMigrationOrder,
				fmt.Sprintf("%s is applied before %s: migrations run in the order of their names",
					sourcetext.Quote(before), sourcetext.Quote(name)),
				orderFix(before, name)+"; rename a migration only while it is applied nowhere"))
		case c == 0:
			found = append(found, warn(path.Join(dir, name), diagnostic.CodeMigrationNumber,
				fmt.Sprintf("%s and %s have the same number", sourcetext.Quote(before), sourcetext.Quote(name)),
				"rename one that is applied nowhere yet: an applied migration keeps its name"))
		}
	}
	return found
}

func orderFix(before, after string) string {
	// Zeros help between counted numbers, but not beside a date such as 20240101 or a timestamp.
	const widest, date = 6, 8 // digits
	first, second := Number(before), Number(after)
	if len(first) <= widest && len(second) < date {
		return "give the numbers one width: " + sourcetext.Literal(strings.Repeat("0", max(len(first)-len(second), 0))+after)
	}
	return "number them in the same way, with the same width"
}

// compareNumbers compares two texts of digits of any length as numbers.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
