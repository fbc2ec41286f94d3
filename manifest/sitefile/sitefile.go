// Package sitefile is the model of the files of a site: sent with a bundle, served, or left out.
//
// The bundler makes these values, a deploy sends them, the service stores them, and the front door of a site serves them. They
// hold no bytes. The package reads and checks nothing.
package sitefile

import "time"

// File is a file of a bundle, as sent and stored.
type File struct {
	Path        string // relative to the bundle root, with forward slashes, in Unicode normalization form C
	SHA256      string // 64 lower-case hex digits over the bytes
	Size        int64  // the length in bytes
	ContentType string // a full header value, "text/css; charset=utf-8"
}

// Asset is a file as served.
type Asset struct {
	Path        string // the path of its URL, decoded and in Unicode normalization form C: "/css/site.css"
	File        string // the absolute path of the file that holds the bytes
	Size        int64  // the length in bytes
	SHA256      string // 64 lower-case hex digits over the bytes; the strong ETag is made of it
	ContentType string // a full header value; empty means "application/octet-stream"
	// Target is the absolute path, without links, of the file with the bytes, where File is a link; "" for no link.
	Target string
	// Modified is the time of the last write, for Last-Modified; zero if it is unknown. No digest includes it.
	Modified time.Time
}

// LeftOut is a file or folder among a site's static files that is not served.
type LeftOut struct {
	Path string `json:"path"` // relative to the site's folder, with forward slashes; a folder's ends in one
	// Reason is "private" for secrets and files about the project, "hidden" for dot files, packages and files of file
	// managers, "ignored" for those that .assetsignore lists, and "source" for the Worker's own modules.
	Reason string `json:"reason"`
}
