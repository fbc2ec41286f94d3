package sitepath

import (
	"path"
	"regexp"
)

// ManifestFile is the name of the manifest at the bundle root.
const ManifestFile = "pages.deploy.json"

// The names of the two files with edge rules, at the top of the assets folder.
const (
	HeadersFile   = "_headers"
	RedirectsFile = "_redirects"
)

// EdgeFile reports whether the file at a decoded path is one of the two, in any spelling: they are never served.
func EdgeFile(path string) bool {
	folded := FoldPath(path)
	return folded == "/"+HeadersFile || folded == "/"+RedirectsFile
}

// CleanPath drops "./" and trailing slashes, so that a declared path equals the path of a file in the bundle.
func CleanPath(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// PercentEncoded matches an encoded byte such as %2F.
var PercentEncoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
