package manual

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file lists flags as help and the manual pages show them.

// takes is the annotation of a flag that describes its value.
const takes = "pages_takes"

// nameValues removes the backquotes from the texts of all flags, since completion would show them.
func nameValues(cmd *cobra.Command) {
	name := func(f *pflag.Flag) {
		value, usage := FlagText(f)
		f.Usage = usage
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[takes] = []string{value}
	}
	cmd.Flags().VisitAll(name)
	cmd.PersistentFlags().VisitAll(name)
	for _, sub := range cmd.Commands() {
		nameValues(sub)
	}
}

// FlagText returns the argument of a flag, "" for none, and its purpose. A word in backquotes in its text is the argument.
func FlagText(f *pflag.Flag) (value, usage string) {
	if named := f.Annotations[takes]; named != nil {
		return named[0], f.Usage
	}
	value, usage = pflag.UnquoteUsage(f)
	return strings.ToUpper(value), usage
}

// flagUsage returns a flag as a person types it, with a word for its value.
func flagUsage(f *pflag.Flag) string {
	value, _ := FlagText(f)
	switch {
	case value == "":
		return "--" + f.Name
	case f.NoOptDefVal != "": // the value is optional
		return fmt.Sprintf("--%s [%s]", f.Name, value)
	}
	return "--" + f.Name + " " + value
}

// defaultOf returns the default of a flag as text; "" if help need not show it.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	if f.Value.Type() == "string" {
		return fmt.Sprintf(" (default %q)", f.DefValue)
	}
	return " (default " + f.DefValue + ")"
}

// listFlags lists the flags of a set, one on each line.
func listFlags(set *pflag.FlagSet) string {
	var b strings.Builder
	var shown []*pflag.Flag
	width := 0
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown = append(shown, f)
			width = max(width, utf8.RuneCountInString(flagUsage(f)))
		}
	})
	for _, f := range shown {
		short := "    "
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		_, usage := FlagText(f)
		fmt.Fprintf(&b, "  %s%-*s   %s%s\n", short, width, flagUsage(f), usage, defaultOf(f))
	}
	return b.String()
}
