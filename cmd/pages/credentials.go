package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// This file finds the API key, and keeps the one of `pages login`: in the system's
// keyring, or in a file for its owner alone where there is none. A key is never an
// argument, which everyone on the machine could read, and never printed.

const (
	// keyringService names our entries in the system's keyring.
	keyringService = "pages"
	// keyringPatience is how long a keyring may take: one that waits for a person to
	// unlock it on a machine without one never answers.
	keyringPatience = 15 * time.Second
	// maxKey is as much of a file as is read for a key.
	maxKey = 4 << 10

	envKey = "PAGES_API_KEY"
)

// credentials is the file of `pages login`.
type credentials struct {
	path string
	// Default is the address that was logged in to last.
	Default string           `json:"default,omitempty"`
	Logins  map[string]login `json:"logins,omitempty"` // by address
}

// login is how the key of an address is kept.
type login struct {
	// Key is "" for one that is in the keyring.
	Key     string `json:"key,omitempty"`
	Keyring bool   `json:"keyring,omitempty"`
}

// loadCredentials reads the file. Only what it gives without an error may be saved: keys in
// a file that cannot be read are still somebody's.
func (c *cli) loadCredentials() (*credentials, error) {
	store := &credentials{Logins: map[string]login{}}
	if c.term.ConfigDir == "" {
		return store, nil
	}
	store.path = filepath.Join(c.term.ConfigDir, "pages", "credentials.json")
	text, err := userfile.ReadRegular(store.path)
	if errors.Is(err, fs.ErrNotExist) {
		return store, nil
	}
	if err == nil {
		err = json.Unmarshal(text, store)
	}
	if err != nil {
		return nil, failure.Resource("settings-unreadable", store.path+", which keeps the API keys, cannot be read", "mend it, or make it one that you may read; or move it away, and log in to each service again", err)
	}
	if store.Logins == nil {
		store.Logins = map[string]login{}
	}
	c.warnReadable(store.path)
	return store, nil
}

// credentials is loadCredentials for who only reads: a file that cannot be read counts as
// none.
func (c *cli) credentials() *credentials {
	store, err := c.loadCredentials()
	if failed, ok := errors.AsType[*failure.Error](err); ok {
		c.term.Progress("%s nobody is logged in: %s; %s", c.term.Paint("33", "note:"), failed.Message, failed.Fix)
		return &credentials{}
	}
	return store
}

// has reports whether the user logged in to an address, however it is written.
func (s *credentials) has(address string) bool {
	base, err := client.Address(address)
	if err != nil {
		return false
	}
	_, ok := s.Logins[base]
	return ok
}

func (s *credentials) save() error {
	if s.path == "" {
		return failure.Resource("no-settings", "there is no folder for settings", "set HOME, or use PAGES_API_KEY", nil)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = writePrivate(s.path, append(text, '\n'))
	}
	if err != nil {
		return failure.Resource("settings-unwritable", s.path+" cannot be written", "make its folder one that you may write to, or use PAGES_API_KEY", err)
	}
	return nil
}

// warnReadable warns of a file with a key that others may read.
func (c *cli) warnReadable(path string) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() && runtime.GOOS != "windows" {
		c.term.Progress("%s others on this machine may read the key in %s: chmod 600 %s", c.term.Paint("33", "note:"), path, wording.ShellWord(path))
	}
}

// key finds the key for an address; what is typed counts before the environment, and
// that before a login.
func (r *remote) key(ctx context.Context, store *credentials, base string) (string, error) {
	fromEnv, _ := r.term.Lookup(envKey)
	switch {
	case r.typed["api-key-file"], fromEnv == "" && r.keyFile != "":
		r.keyFrom = r.keyFile
		return r.readKey(ctx)
	case fromEnv != "":
		r.keyFrom = envKey
		return checkKey(fromEnv, envKey)
	}
	kept, ok := store.Logins[base]
	switch {
	case !ok:
		return "", &failure.Error{Exit: failure.ExitAccess, Code: "no-key", Message: "there is no API key for " + base, Fix: "set PAGES_API_KEY, name a file with --api-key-file, or run pages login; a key is made in the product's Settings under API & MCP"}
	case !kept.Keyring:
		r.keyFrom, r.loggedIn = store.path, true
		return checkKey(kept.Key, store.path)
	}
	r.keyFrom, r.loggedIn = "the system's keyring", true
	key, err := fromKeyring(ctx, func() (string, error) { return keyring.Get(keyringService, base) })
	if err != nil {
		return "", failure.Resource("keyring", "the system's keyring does not give the key", "unlock it, or run pages login again", err)
	}
	return checkKey(key, r.keyFrom)
}

// fromKeyring asks the keyring, which may wait for someone.
func fromKeyring(ctx context.Context, ask func() (string, error)) (string, error) {
	type answer struct {
		key string
		err error
	}
	done := make(chan answer, 1)
	go func() {
		key, err := ask()
		done <- answer{key, err}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, keyringPatience, errors.New("it does not answer"))
	defer cancel()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-done:
		return a.key, a.err
	}
}

// readKey reads the key of --api-key-file.
func (r *remote) readKey(ctx context.Context) (string, error) {
	if r.keyFile == "-" {
		text, err := r.term.ReadLine(ctx)
		if err != nil {
			return "", err
		}
		return checkKey(text, "stdin")
	}
	path := r.term.Path(r.keyFile)
	f, err := userfile.Open(ctx, path)
	if err != nil {
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "no-key-file", Message: fmt.Sprintf("the key file %s cannot be read: %s", wording.QuotePath(r.keyFile), failure.Reason(err)), Fix: "name a file that holds the API key and nothing else", Err: err}
	}
	defer f.Close()
	r.warnReadable(path)
	text, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return "", fmt.Errorf("read %s: %s", r.keyFile, failure.Reason(err))
	}
	return checkKey(string(text), r.keyFile)
}

// inQuotes matches a value of which a file or a setting kept the quotes.
var inQuotes = regexp.MustCompile("^(\".*\"|'.*')$")

// checkKey refuses what can be no key, without telling what it is.
func checkKey(text, from string) (string, error) {
	key := strings.TrimSpace(text)
	if inQuotes.MatchString(key) {
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "bad-key", Message: "what " + from + " holds is in quotes", Fix: "leave the quotes out: they are no part of the key"}
	}
	if key == "" || len(key) >= maxKey || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "bad-key", Message: "what " + from + " holds is no API key: it is empty, or has other characters than a key", Fix: "it holds the key and nothing else"}
	}
	return key, nil
}
