// Package sitefile is the model of the files of a site: sent with a bundle, served, or left out.
//
// The bundler makes these values, a deploy sends them, the service stores them, and the front door of a site serves them. They
// hold no bytes. The package reads and checks nothing.
package sitefile

import "time"

// File is a file of a bundle, as it is sent and stored.
type File struct {
	// Path is relative to the bundle root, with forward slashes, in Unicode normalization form C.
	Path string
	// SHA256 is 64 lower-case hex digits over the bytes.
	SHA256 string
	// Size is the length in bytes.
	Size int64
	// ContentType is a full header value, "text/css; charset=utf-8".
	ContentType string
}

// Asset is a file as it is served.
type Asset struct {
	// Path is where the site serves it, decoded and in Unicode normalization form C: "/css/site.css".
	Path string
	// File is the absolute path of the file that holds the bytes.
	File string
	// Size is the length in bytes.
	Size int64
	// SHA256 is 64 lower-case hex digits over the bytes; the strong ETag is made of it.
	SHA256 string
	// ContentType is a full header value; empty stands for "application/octet-stream".
	ContentType string
	// Modified is when the file was last written to, for Last-Modified; the zero time where that is unknown. No digest
	// holds it.
	Modified time.Time
}

// LeftOut is a file or folder among a site's static files that is not served.
type LeftOut struct {
	// Path is relative to the site's folder, with forward slashes; a folder's ends in one.
	Path string `json:"path"`
	// Reason is "private" for secrets and files about the project, "hidden" for dot files, packages and files of file
	// managers, "ignored" for those that .assetsignore lists, and "source" for the Worker's own modules.
	Reason string `json:"reason"`
}
