package publish

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// maxSecret is the number of bytes that are read of a secret's value.
const maxSecret = 64 << 10

// SetSecret sets one secret of the site.
func SetSecret(ctx context.Context, s *remote.Session, name, value string) (toolapi.SecretChange, error) {
	return client.Run(ctx, s.Client, s.Contract.SetSecret, toolapi.SetSecretArgs{
		SiteID: toolapi.UUID(s.Site), Name: toolapi.SecretName(name), Value: toolapi.SecretValue(value), Scope: s.Scope(),
	})
}

// ReadSecret asks a person for the value of a secret, or reads it from stdin.
func ReadSecret(ctx context.Context, t *terminal.Terminal, name string) (string, error) {
	var value string
	if terminal.IsTerminalReader(t.Stdin) {
		var err error
		value, err = t.ReadSecret(ctx, "value of "+wording.Printable(name)+" (not shown): ",
			"give the value on stdin: pages secrets set "+wording.ShellWord(name)+" < FILE")
		if err != nil {
			return "", err
		}
	} else {
		text, err := io.ReadAll(io.LimitReader(userfile.Interruptible(ctx, t.Stdin), maxSecret+1))
		if err != nil {
			return "", fmt.Errorf("read stdin: %w", err)
		}
		value = strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	}
	switch {
	case value == "":
		return "", failure.Refused("empty-secret", "the value is empty",
			"to remove a secret: pages secrets remove "+wording.ShellWord(name))
	case len(value) > maxSecret:
		return "", failure.Refused("long-secret", fmt.Sprintf("the value is longer than %d bytes", maxSecret), "")
	}
	return value, nil
}

// ReadSecretsFile reads a file of secrets, or stdin for "-". No error shows its content.
func ReadSecretsFile(ctx context.Context, t *terminal.Terminal, name string) (map[string]string, error) {
	var in io.Reader
	if name == "-" {
		in = userfile.Interruptible(ctx, t.Stdin)
	} else {
		f, err := userfile.Open(ctx, t.Path(name))
		if err != nil {
			return nil, &failure.Error{
				Exit: failure.ExitRefused, Code: "unreadable",
				Message: fmt.Sprintf("%s cannot be read: %s", t.Shown(name), failure.Reason(err)),
				Fix:     "name a file that you may read, such as .dev.vars", Err: err,
			}
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, localsecrets.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the secrets: %w", err)
	}
	if len(text) > localsecrets.MaxFile {
		return nil, failure.Refused("secrets-file",
			fmt.Sprintf("%s is longer than %d bytes: it is not a file of secrets", t.Shown(name), localsecrets.MaxFile), "")
	}
	return localsecrets.Parse(t.Shown(name), text)
}

// PickSecrets returns the names to set, in order: all with a value, or the wanted ones.
func PickSecrets(values map[string]string, wanted []string) ([]string, error) {
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
			return nil, failure.Refused("empty-secret",
				fmt.Sprintf("the file has no value for %s; nothing was set", wording.Printable(name)), "give it one, or leave its name out")
		case len(value) > maxSecret:
			return nil, failure.Refused("long-secret",
				fmt.Sprintf("the value of %s is longer than %d bytes; nothing was set", wording.Printable(name), maxSecret), "")
		}
	}
	if len(names) == 0 {
		return nil, failure.Refused("no-secrets", "the file holds no secret with a value", "write a line NAME=value for each")
	}
	return names, nil
}

// SecretList is the output of `pages secrets import --json`.
type SecretList struct {
	OK      bool                   `json:"ok"`
	Secrets []toolapi.SecretChange `json:"secrets"`
}

// ImportSecrets sets the secrets one by one; an error names those that are set.
func ImportSecrets(ctx context.Context, s *remote.Session, values map[string]string, names []string) (SecretList, error) {
	list := SecretList{OK: true}
	for i, name := range names {
		done, err := SetSecret(ctx, s, name, values[name])
		if err != nil {
			if i > 0 {
				s.Term.Progress("set before that: %s", strings.Join(names[:i], ", "))
			}
			return list, remote.Error(err)
		}
		list.Secrets = append(list.Secrets, done)
		s.Term.Progress("%s is set", wording.Printable(done.Name))
	}
	return list, nil
}
