package manual

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// FindCommand returns the command at a path, nil for none.
func FindCommand(cmd *cobra.Command, path []string) *cobra.Command {
	for _, name := range path {
		i := slices.IndexFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
		if i < 0 {
			return nil
		}
		cmd = cmd.Commands()[i]
	}
	return cmd
}

// StartingWith returns the values that begin with a text.
func StartingWith(begun string, values []string) (fit []string) {
	for _, v := range values {
		if strings.HasPrefix(v, begun) {
			fit = append(fit, v)
		}
	}
	return fit
}
