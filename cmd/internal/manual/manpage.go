package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

func newMan(o Options) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := o.Term.Path(args[0])
			err := os.MkdirAll(dir, 0o755)
			if err == nil {
				err = writeManual(cmd.Root(), dir, o.Version)
			}
			if err != nil {
				return failure.Resource(
					"output-unusable",
					fmt.Sprintf("the folder %s cannot be written", wording.QuotePath(o.Term.Shown(dir))),
					"name a writable folder",
					err,
				)
			}
			return nil
		},
	}
}

// writeManual writes the page of a command and of its subcommands.
func writeManual(cmd *cobra.Command, dir, version string) error {
	if cmd.Hidden {
		return nil
	}
	section := 1
	if !cmd.Runnable() && !cmd.HasSubCommands() {
		section = 7
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	file := filepath.Join(dir, fmt.Sprintf("%s.%d", name, section))
	if err := os.WriteFile(file, []byte(manualPage(cmd, name, section, version)), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := writeManual(sub, dir, version); err != nil {
			return err
		}
	}
	return nil
}

// manualPage is one page in the language of man(7).
func manualPage(cmd *cobra.Command, name string, section int, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %d \"\" \"pages %s\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), section, version, name, roff(cmd.Short))
	about, codes, coded := strings.Cut(cmd.Long, "\n\nExit codes: ")
	codes, more, _ := strings.Cut(codes, "\n\n")
	if section == 1 {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(strings.TrimSuffix(cmd.UseLine(), " [flags]")))
	}
	b.WriteString(".SH DESCRIPTION\n")
	for _, text := range []string{about, more} {
		if text != "" {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(text))
		}
	}
	if section == 1 {
		b.WriteString(".SH OPTIONS\n")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { manualFlag(&b, f) })
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { manualFlag(&b, f) })
	}
	if coded {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", roff(strings.ReplaceAll(codes, "\n", " ")))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	return b.String()
}

func manualFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	_, usage := FlagText(f)
	b.WriteString(".TP\n.B ")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\-%s, ", f.Shorthand)
	}
	name, value, taken := strings.Cut(flagUsage(f), " ")
	b.WriteString(roff(name))
	if taken {
		b.WriteString(" \\fI" + roff(value) + "\\fR")
	}
	b.WriteString("\n" + roff(usage) + "\n")
}

// roff escapes text: a dot that begins a line, and a backslash, stay text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	var ascii strings.Builder
	for _, r := range text {
		if r > '~' {
			fmt.Fprintf(&ascii, `\[u%04X]`, r)
			continue
		}
		ascii.WriteRune(r)
	}
	lines := strings.Split(ascii.String(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
