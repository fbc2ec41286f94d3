package site

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// This file recognizes documents to which an element may be added: the reload script of the dev server, and the banner of a preview.

// ShowsDocument reports whether a browser asks for a page to show, outside of the reserved paths.
func ShowsDocument(r *http.Request) bool {
	if !readOnly(r.Method) || r.Header.Get("Range") != "" || r.Header.Get("Upgrade") != "" ||
		strings.HasPrefix(r.URL.Path, reservedPrefix+"/") {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame":
		return true
	case "":
		return strings.Contains(r.Header.Get("Accept"), "text/html")
	}
	return false
}

// takesElement reports whether a response is complete, uncompressed HTML, in an encoding in which ASCII has its own bytes.
func takesElement(status int, h http.Header) bool {
	switch {
	case status == http.StatusNoContent, status == http.StatusResetContent, status == http.StatusPartialContent:
		return false
	case status < 200, status >= 300 && status < 400:
		return false
	case h.Get("Content-Encoding") != "" && h.Get("Content-Encoding") != "identity":
		return false
	}
	kind, parameters, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/html") && keepsASCII(parameters)
}

// keepsASCII reports whether a text in the encoding of a Content-Type's parameters can end in ASCII. In an encoding that browsers do not
// know, it cannot.
func keepsASCII(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, label, _ := strings.Cut(parameter, "=")
		label = strings.Trim(label, " \t\"'")
		if !strings.EqualFold(strings.TrimSpace(name), "charset") || label == "" {
			continue
		}
		e, err := htmlindex.Get(label)
		if err != nil {
			return false
		}
		name, err = htmlindex.Name(e)
		return err == nil && !slices.Contains([]string{"utf-16be", "utf-16le", "iso-2022-jp", "replacement"}, name)
	}
	return true
}

// PolicyNonce returns the nonce for the given directives, such as "script-src", in content security policies; "" for none.
func PolicyNonce(policies []string, directives ...string) string {
	notBase64 := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("+/-_=", r)
	}
	for directive := range strings.SplitSeq(strings.Join(policies, ";"), ";") {
		name, sources, _ := strings.Cut(strings.TrimSpace(directive), " ")
		if !containsFold(directives, name) {
			continue
		}
		_, after, found := strings.Cut(sources, "'nonce-")
		nonce, _, closed := strings.Cut(after, "'")
		if found && closed && !strings.ContainsFunc(nonce, notBase64) {
			return nonce
		}
	}
	return ""
}

func containsFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
