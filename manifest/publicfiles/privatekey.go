package publicfiles

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file tells public files that are private keys by how they begin.

// Bounds on what may be a key.
const (
	MaxKeyBytes = 64 << 10 // of a file; keys are shorter
	KeyStart    = 128      // bytes that are read
)

// HoldsKey reports whether a public file is a private key, for who reads it anyway. start are its first bytes: 128, or
// all it has.
func HoldsKey(file string, size int64, start []byte) bool {
	return size <= MaxKeyBytes && StartsKey(start) && MayBeKey(file)
}

// KeyFault is the error of a public file that is a private key, about the manifest's "assets".
func (a Folder) KeyFault(file string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{
		Severity: diagnostic.Error, Code: diagnostic.CodeAssetSecret, Path: "/assets",
		Message: fmt.Sprintf("the public file %s holds a private key", sourcetext.Quote(file)),
		Fix:     "replace the key if it was ever published, and " + a.MoveOut(),
	}
}

// MoveOut says what to do with a file that may not be among the public ones.
func (a Folder) MoveOut() string {
	if a.Dir == "." {
		return `keep the public files in a folder of their own, such as "public"`
	}
	return "move it out of " + sourcetext.Quote(a.Dir)
}

// MayBeKey tells files that could be a key from the many that a site is made of.
func MayBeKey(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case "", ".txt", ".text", ".asc", ".crt", ".cer", ".cert", ".der", ".bak", ".old", ".orig",
		".conf", ".cfg", ".ini", ".rsa", ".priv", ".private", ".md":
		return true
	}
	return false
}

// StartsKey reports whether the first line opens a private key in PEM form (RFC 7468) or OpenPGP armour. text are a
// file's first bytes: 128, or all it has.
func StartsKey(text []byte) bool {
	text = text[:min(KeyStart, len(text))]
	line, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte(sourcetext.ByteOrderMark)), []byte("\n"))
	kind, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("-----BEGIN "))
	return ok && (bytes.HasSuffix(kind, []byte("PRIVATE KEY-----")) || string(kind) == "PGP PRIVATE KEY BLOCK-----")
}
