package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
)

func (c *cli) newSecretsImport() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "import FILE [NAME]...",
		Short: "Set the secrets that a file like .dev.vars holds",
		Long: "Set the secrets that a file holds, in the syntax of .dev.vars and .env: a line\nNAME=value each; - is stdin. With names, those alone. An empty value is none, and is\nleft out.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages secrets import .dev.vars\n  pages secrets import .dev.vars STRIPE_KEY MAIL_TOKEN\n  op inject -i secrets.tpl | pages secrets import -",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" && r.keyFile == "-" {
				return failure.Usage("stdin holds the secrets here; name a file with --api-key-file, or set PAGES_API_KEY")
			}
			values, err := r.secretsFile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			names, err := pickSecrets(values, args[1:])
			if err != nil {
				return err
			}
			if err := r.openSite(cmd.Context(), nil); err != nil {
				return err
			}
			return r.importSecrets(cmd.Context(), values, names)
		},
	}
	r.siteFlags(cmd)
	return cmd
}

// secretsFile reads a file of secrets, or stdin. No error shows what is in it.
func (r *remote) secretsFile(ctx context.Context, name string) (map[string]string, error) {
	var in io.Reader
	if name == "-" {
		in = userfile.Interruptible(ctx, r.term.Stdin)
	} else {
		f, err := userfile.Open(ctx, r.term.Path(name))
		if err != nil {
			return nil, &failure.Error{Exit: failure.ExitRefused, Code: "unreadable", Message: fmt.Sprintf("%s cannot be read: %s", r.term.Shown(name), failure.Reason(err)), Fix: "name a file that you may read, such as .dev.vars", Err: err}
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, localsecrets.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the secrets: %w", err)
	}
	if len(text) > localsecrets.MaxFile {
		return nil, &failure.Error{Exit: failure.ExitRefused, Code: "secrets-file", Message: fmt.Sprintf("%s is longer than %d bytes: it is not a file of secrets", r.term.Shown(name), localsecrets.MaxFile)}
	}
	return localsecrets.Parse(r.term.Shown(name), text)
}

// pickSecrets are the names to set, in order: all that have a value, or those wanted.
func pickSecrets(values map[string]string, wanted []string) ([]string, error) {
	names := wanted
	if len(names) == 0 {
		names = slices.Collect(maps.Keys(values))
		names = slices.DeleteFunc(names, func(name string) bool { return values[name] == "" })
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		switch value := values[name]; {
		case value == "":
			return nil, &failure.Error{Exit: failure.ExitRefused, Code: "empty-secret", Message: fmt.Sprintf("the file has no value for %s; nothing was set", wording.Printable(name)), Fix: "give it one, or leave its name out"}
		case len(value) > maxSecret:
			return nil, &failure.Error{Exit: failure.ExitRefused, Code: "long-secret", Message: fmt.Sprintf("the value of %s is longer than %d bytes; nothing was set", wording.Printable(name), maxSecret)}
		}
	}
	if len(names) == 0 {
		return nil, &failure.Error{Exit: failure.ExitRefused, Code: "no-secrets", Message: "the file holds no secret with a value", Fix: "write a line NAME=value for each"}
	}
	return names, nil
}

// secretsSetDoc is what `pages secrets import --json` prints.
type secretsSetDoc struct {
	OK      bool                   `json:"ok"`
	Secrets []toolapi.SecretChange `json:"secrets"`
}

// importSecrets sets one after the other; an error says which are set.
func (r *remote) importSecrets(ctx context.Context, values map[string]string, names []string) error {
	doc := secretsSetDoc{OK: true}
	for i, name := range names {
		done, err := r.setSecret(ctx, name, values[name])
		if err != nil {
			if i > 0 {
				r.term.Progress("set before that: %s", strings.Join(names[:i], ", "))
			}
			return remoteError(err)
		}
		doc.Secrets = append(doc.Secrets, done)
		r.term.Progress("%s is set", wording.Printable(done.Name))
	}
	if r.term.JSON {
		r.term.PrintJSON(doc)
	}
	return nil
}
