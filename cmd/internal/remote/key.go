package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

const (
	// keyringService names our entries in the system's keyring.
	keyringService = "pages"
	// keyringTimeout ends the wait for a keyring: without a person, a keyring that must be unlocked waits without end.
	keyringTimeout = 15 * time.Second
	// maxKey is the number of bytes that are read of a key file.
	maxKey = 4 << 10

	envKey = "PAGES_API_KEY"
)

// key is an API key. It is never an argument, which everyone on the machine could read, and is never printed.
type key struct {
	text    string
	from    string // its source, for people
	ofLogin bool   // pages login has a key for this address
}

// findKey finds the key for an address: from a flag, else from the environment, else from a login.
func (o Options) findKey(ctx context.Context, store *credentials, base string) (k key, err error) {
	fromEnv, _ := o.Term.Lookup(envKey)
	switch {
	case o.KeyFileTyped, fromEnv == "" && o.KeyFile != "":
		k.from = o.KeyFile
		k.text, err = o.readKey(ctx)
		return k, err
	case fromEnv != "":
		k.from = envKey
		k.text, err = checkKey(fromEnv, envKey)
		return k, err
	}
	k.ofLogin = true
	kept, ok := store.Logins[base]
	switch {
	case !ok:
		return k, &failure.Error{
			Exit: failure.ExitAccess, Code: "no-key", Message: "there is no API key for " + base,
			Fix: "set PAGES_API_KEY, name a file with --api-key-file, or run pages login; " +
				"create a key in the product's Settings under API & MCP",
		}
	case !kept.Keyring:
		k.from = store.path
		k.text, err = checkKey(kept.Key, store.path)
		return k, err
	}
	k.from = "the system's keyring"
	text, err := askKeyring(ctx, func() (string, error) { return keyring.Get(keyringService, base) })
	if err != nil {
		return k, failure.Resource("keyring", "the system's keyring does not return the key", "unlock it, or run pages login again", err)
	}
	k.text, err = checkKey(text, k.from)
	return k, err
}

// askKeyring asks the keyring, which may wait for a person.
func askKeyring(ctx context.Context, ask func() (string, error)) (string, error) {
	type result struct {
		key string
		err error
	}
	done := make(chan result, 1)
	go func() {
		key, err := ask()
		done <- result{key, err}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, keyringTimeout, errors.New("it does not answer"))
	defer cancel()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-done:
		return r.key, r.err
	}
}

// readKey reads the key of --api-key-file.
func (o Options) readKey(ctx context.Context) (string, error) {
	if o.KeyFile == "-" {
		text, err := o.Term.ReadLine(ctx)
		if err != nil {
			return "", err
		}
		return checkKey(text, "stdin")
	}
	path := o.Term.Path(o.KeyFile)
	f, err := userfile.Open(ctx, path)
	if err != nil {
		return "", &failure.Error{
			Exit: failure.ExitRefused, Code: "no-key-file",
			Message: fmt.Sprintf("the key file %s cannot be read: %s", wording.QuotePath(o.KeyFile), failure.Reason(err)),
			Fix:     "name a file that holds the API key and nothing else", Err: err,
		}
	}
	defer f.Close()
	warnReadable(o.Term, path)
	text, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return "", fmt.Errorf("read %s: %s", o.KeyFile, failure.Reason(err))
	}
	return checkKey(string(text), o.KeyFile)
}

// quotedValue matches a value in the quotes of a file or a setting.
var quotedValue = regexp.MustCompile("^(\".*\"|'.*')$")

// checkKey refuses a text that cannot be a key, without showing it.
func checkKey(text, from string) (string, error) {
	key := strings.TrimSpace(text)
	if quotedValue.MatchString(key) {
		return "", failure.Refused("bad-key", "the key in "+from+" is in quotes", "remove the quotes: they are not part of the key")
	}
	if key == "" || len(key) >= maxKey || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", failure.Refused("bad-key", from+" does not hold an API key: it is empty, or has characters that a key cannot have",
			"write the key into it, and nothing else")
	}
	return key, nil
}
