package cldr_test

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// A locale has its own data, and the rest from its parents.
func Example() {
	for _, name := range []string{"de", "de-AT", "de-XX"} {
		if !cldr.Has(name) {
			fmt.Println(name, "has no data")
			continue
		}
		l := cldr.Open(name)
		january, _, _ := strings.Cut(l.Text("month/format/wide"), "|")
		fmt.Println(l.Name(), january, l.Text("date/short"), l.Text("currency/EUR"))
	}
	tag, _ := cldr.Likely().Find("und-AT")
	fmt.Println(tag)
	for currency, digits := range cldr.Common().Under("digits/J") {
		fmt.Println("J"+currency, digits)
	}
	// Output:
	// de Januar dd.MM.yy Euro
	// de-AT Jänner dd.MM.yy Euro
	// de-XX has no data
	// de-Latn-AT
	// JOD 3
	// JPY 0
}
