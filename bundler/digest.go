package bundler

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// digest returns the SHA-256, in hex, of this listing: one line each, ended by a line feed, fields separated by one space,
// hashes in hex, strings as in RFC 8785.
//
//	pages bundle 1
//	manifest <sha256>
//	worker <sha256 of code> <sha256 of map>          with a Worker
//	module "<specifier>" <kind> <sha256>             each, by specifier
//	asset "<path>" <size> <sha256> "<content type>"  each, by path
//	migration "<name>" <sha256>                      each, by name
//
// The source map counts: two Workers that differ in a comment respond alike, but point at other lines when they throw. The
// folder does not count.
func digest(b *Bundle) string {
	list := []byte("pages bundle 1\nmanifest " + sum(b.Manifest) + "\n")
	if w := b.Worker; w != nil {
		list = append(list, "worker "+sum(w.Code)+" "+sum(w.Map)+"\n"...)
		for _, m := range w.Modules {
			list = appendString(append(list, "module "...), m.Specifier)
			list = append(list, " "+string(m.Kind)+" "+sum(m.Bytes)+"\n"...)
		}
	}
	for _, a := range b.Assets {
		list = appendString(append(list, "asset "...), a.Path)
		list = strconv.AppendInt(append(list, ' '), a.Size, 10)
		list = appendString(append(list, " "+a.SHA256+" "...), a.ContentType)
		list = append(list, '\n')
	}
	for _, m := range b.Migrations {
		list = appendString(append(list, "migration "...), m.Name)
		list = append(list, " "+m.SHA256+"\n"...)
	}
	return sum(list)
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// canonicalJSON encodes v by RFC 8785: no white space, members in the order of their names' UTF-16 code units, the shortest
// escapes. It takes the types of encoding/json.
func canonicalJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(text)
	err = canonical.Canonicalize()
	return canonical, err
}

// appendString appends s as a string of RFC 8785, with U+FFFD for invalid UTF-8.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error is about invalid UTF-8
	return b
}
