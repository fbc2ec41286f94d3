package remote

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/client"
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

// loadCredentials reads the file. Only what it returns without an error may be saved: keys in a file that cannot be read are still
// somebody's.
func loadCredentials(t *terminal.Terminal) (*credentials, error) {
	store := &credentials{Logins: map[string]login{}}
	if t.ConfigDir == "" {
		return store, nil
	}
	store.path = filepath.Join(t.ConfigDir, "pages", "credentials.json")
	text, err := userfile.ReadRegular(store.path)
	if errors.Is(err, fs.ErrNotExist) {
		return store, nil
	}
	if err == nil {
		err = json.Unmarshal(text, store)
	}
	if err != nil {
		return nil, failure.Resource("settings-unreadable", store.path+", which keeps the API keys, cannot be read",
			"mend it, or make it one that you may read; or move it away, and log in to each service again", err)
	}
	if store.Logins == nil {
		store.Logins = map[string]login{}
	}
	warnReadable(t, store.path)
	return store, nil
}

// readCredentials is loadCredentials for who does not save: a file that cannot be read counts as none.
func readCredentials(t *terminal.Terminal) *credentials {
	store, err := loadCredentials(t)
	if failed, ok := errors.AsType[*failure.Error](err); ok {
		t.Progress("%s nobody is logged in: %s; %s", t.Paint("33", "note:"), failed.Message, failed.Fix)
		return &credentials{}
	}
	return store
}

// HasLogin reports whether the user logged in to an address, however it is written.
func HasLogin(t *terminal.Terminal, address string) bool { return readCredentials(t).has(address) }

func (c *credentials) has(address string) bool {
	base, err := client.Address(address)
	if err != nil {
		return false
	}
	_, ok := c.Logins[base]
	return ok
}

// inKeyring reports whether the keyring has the key of an address.
func (c *credentials) inKeyring(base string) bool {
	return c.Logins[strings.TrimSuffix(base, "/")].Keyring
}

func (c *credentials) save() error {
	if c.path == "" {
		return failure.Resource("no-settings", "there is no folder for settings", "set HOME, or use PAGES_API_KEY", nil)
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = userfile.WritePrivate(c.path, append(text, '\n'))
	}
	if err != nil {
		return failure.Resource(
			"settings-unwritable",
			c.path+" cannot be written",
			"make its folder one that you may write to, or use PAGES_API_KEY",
			err,
		)
	}
	return nil
}

// warnReadable warns of a file with a key that others may read.
func warnReadable(t *terminal.Terminal, path string) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() && runtime.GOOS != "windows" {
		t.Progress("%s others on this machine may read the key in %s: chmod 600 %s", t.Paint("33", "note:"), path, wording.ShellWord(path))
	}
}
