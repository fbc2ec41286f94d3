package checkout

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/publicfiles"
)

// This file knows the files in which programs keep what lets their users in. A Worker has no use for them: the values
// that it needs are its secrets.

// private are folders of which no file is anybody else's business, in lower case.
func private() []string {
	return []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", "gcloud", ".git", ".hg", ".jj", ".svn", ".pages"}
}

// Credentials reports whether a file that the checkout holds, and that is taken in as text or data, holds keys or
// passwords, by its path and its first bytes: 128, or all it has.
func (c *Checkout) Credentials(file string, start []byte) bool {
	if publicfiles.StartsKey(start) {
		return true
	}
	file = filepath.ToSlash(c.below(c.follow(file)))
	if strings.Contains("/"+file, "/"+modules+"/") {
		return false // a package's own file, whatever it is called
	}
	dir, name := path.Split(file)
	for folder := range strings.SplitSeq(strings.ToLower(dir), "/") {
		if slices.Contains(private(), folder) {
			return true
		}
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".pem", ".key", ".db", ".sqlite", ".sqlite3": // certificates, public keys, and data that a Worker may bring along
		return false
	}
	return publicfiles.HoldsSecrets(name)
}

// below is a path without links as the folder sees it that it is held for: what that lies in is none of its matter.
func (c *Checkout) below(file string) string {
	for _, folder := range append([]string{c.root}, c.allowed...) {
		if rel, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return file
}
