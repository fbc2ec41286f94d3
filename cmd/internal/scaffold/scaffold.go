// Package scaffold begins sites: it makes a folder a site from a template or around what is there, and sets up editors.
//
// In go a folder, a terminal to ask and to print on, and Options; out come files and a report of them. All that is in the way
// is found before the first file is written, and no file that exists is written over. An error is a *failure.Error or a
// *failure.RefusedError. It knows no flags, and runs nothing.
package scaffold

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest/starter"
)

// TemplateNames lists the templates.
func TemplateNames() (names []string) {
	for _, t := range starter.Templates() {
		names = append(names, t.Name)
	}
	return names
}

// TemplateHelp returns a line for each template, for the command's help.
func TemplateHelp() string {
	var b strings.Builder
	for _, t := range starter.Templates() {
		fmt.Fprintf(&b, "  %-10s %s\n", t.Name, t.About)
	}
	return b.String()
}
