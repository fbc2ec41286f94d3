package publicfiles

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Bounds on the search for private keys.
const (
	MaxKeyBytes = 64 << 10 // of a file; keys are shorter
	KeyStart    = 128      // bytes that are read
)

// HoldsKey reports whether a public file is a private key. start has its first 128 bytes, or all.
func HoldsKey(file string, size int64, start []byte) bool {
	return size <= MaxKeyBytes && StartsKey(start) && MayBeKey(file)
}

// KeyFault returns the error of a public file that is a private key, about the manifest's "assets".
func (a Folder) KeyFault(file string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{
		Severity: diagnostic.Error, Code: diagnostic.CodeAssetSecret, Path: "/assets",
		Message: fmt.Sprintf("the public file %s holds a private key", sourcetext.Quote(file)),
		Fix:     "replace the key if it was ever published, and " + a.MoveOut(),
	}
}

// MoveOut returns the fix for a file that may not be among the public ones.
func (a Folder) MoveOut() string {
	if a.Dir == "." {
		return `keep the public files in a folder of their own, such as "public"`
	}
	return "move it out of " + sourcetext.Quote(a.Dir)
}

// MayBeKey reports whether a file could be a key, by its extension.
func MayBeKey(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case "", ".txt", ".text", ".asc", ".crt", ".cer", ".cert", ".der", ".bak", ".old", ".orig",
		".conf", ".cfg", ".ini", ".rsa", ".priv", ".private", ".md":
		return true
	}
	return false
}

// StartsKey reports whether the first line opens a private key in PEM form (RFC 7468) or OpenPGP armour. text has a file's
// first 128 bytes, or all.
func StartsKey(text []byte) bool {
	text = text[:min(KeyStart, len(text))]
	line, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte(sourcetext.ByteOrderMark)), []byte("\n"))
	kind, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("-----BEGIN "))
	return ok && (bytes.HasSuffix(kind, []byte("PRIVATE KEY-----")) || string(kind) == "PGP PRIVATE KEY BLOCK-----")
}

// HoldsSecrets reports whether files or folders of that name usually hold keys, passwords or whole databases.
func HoldsSecrets(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "thumbs.db":
		return false
	case ".env", ".npmrc", ".netrc", ".pgpass", ".pypirc", ".git-credentials", ".htpasswd", ".git", ".ssh", ".aws", ".pages",
		"credentials.json", "secrets.json":
		return true
	}
	for _, end := range [...]string{".pub", ".example", ".sample", ".template", ".dist"} {
		if strings.HasSuffix(name, end) {
			return false // the public half of a key, or a form to fill in
		}
	}
	for _, start := range [...]string{".env.", ".dev.vars", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	switch path.Ext(name) {
	case ".env", ".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx", ".db", ".db-wal", ".db-shm", ".db-journal":
		return true
	case ".json": // as cloud providers name the keys of accounts
		plain := strings.NewReplacer("-", "", "_", "").Replace(name)
		return strings.HasPrefix(plain, "serviceaccount") || strings.HasSuffix(plain, "serviceaccount.json") ||
			strings.HasPrefix(plain, "clientsecret") || strings.Contains(plain, "firebaseadminsdk")
	}
	return strings.Contains(name, ".sqlite")
}
