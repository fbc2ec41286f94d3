// Package misuse explains the error in a command line that reached no command, and suggests the intended command.
//
// Input: cobra's commands and errors. Output: *failure.Error with a fix, also for the names that other tools give to our commands. It keeps
// no state, and runs no command.
package misuse

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// Explain returns the error of a command line, of which cobra found cmd.
func Explain(cmd *cobra.Command, err error) *failure.Error {
	line := wording.FirstLine(err.Error())
	if m := argumentCount().FindStringSubmatch(line); m != nil {
		got := m[4]
		if got == "0" {
			got = "none"
		}
		f := failure.Usage("%q takes %s, and got %s", cmd.CommandPath(), expectedArguments(m), got)
		f.Fix = "the usage is " + strings.TrimSuffix(cmd.UseLine(), " [flags]") + "; see " + cmd.CommandPath() + " --help"
		if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
			if meant := MeantCommand(cmd, args[0]); meant != "" {
				f.Fix = fmt.Sprintf("did you mean %q?", meant)
			}
		}
		return f
	}
	f := failure.Usage("%s", strings.TrimSuffix(line, "."))
	args := cmd.Flags().Args()
	switch unknown := strings.HasPrefix(line, "unknown command") && len(args) > 0; {
	case unknown && !cmd.HasSubCommands():
		f.Message = fmt.Sprintf("%q takes no argument, and got %q", cmd.CommandPath(), args[0])
	case unknown:
		if meant := MeantCommand(cmd, args[0]); meant != "" {
			f.Fix = `did you mean "` + meant + `"?`
		}
	}
	return f
}

// PointToHelp gives a usage error of cmd without a fix a reference to the help page.
func PointToHelp(cmd *cobra.Command, err error) error {
	known, ok := errors.AsType[*failure.Error](err)
	if !ok || known.Exit != failure.ExitUsage || known.Fix != "" {
		return err
	}
	f := *known // all calls share one
	f.Fix = "see " + cmd.CommandPath() + " --help"
	return &f
}

// argumentCount is cobra's text for too many or too few arguments.
var argumentCount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(accepts|accepts at most|requires at least|accepts between (\d+) and) (\d+) arg\(s\),(?: only)? received (\d+)$`,
	)
})

// expectedArguments describes the number of arguments of a command.
func expectedArguments(m []string) string {
	n, _ := strconv.Atoi(m[3]) // the pattern matched digits
	switch {
	case m[2] != "":
		return m[2] + " to " + wording.Count(n, "argument")
	case m[1] == "accepts at most":
		return "at most " + wording.Count(n, "argument")
	case m[1] == "requires at least":
		return "at least " + wording.Count(n, "argument")
	}
	return wording.Count(n, "argument")
}

// FlagMisuse is the error of a flag that cmd does not have, or not in this form.
func FlagMisuse(cmd *cobra.Command, err error) error {
	f := failure.Usage("%s", err)
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f = BadValue("--"+invalid.GetFlag().Name, invalid)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		f.Fix = meantFlag(cmd, unknown)
	}
	return f
}

// BadValue is the error of the value of a flag, and names its source.
func BadValue(where string, err *pflag.InvalidValueError) *failure.Error {
	is := "a valid value: " + fmt.Sprint(err.Unwrap())
	switch kind := err.GetFlag().Value.Type(); {
	case kind == "bool":
		is = "true or false"
	case kind == "duration":
		is = "a time such as 500ms, 30s or 2m"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"), strings.HasPrefix(kind, "float"):
		is = "a number"
	}
	return failure.Usage("%s is %q; it must be %s", where, err.GetValue(), is)
}
