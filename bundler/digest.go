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
	listing := sha256.New()
	line := make([]byte, 0, 1<<10)
	end := func() {
		_, _ = listing.Write(append(line, '\n')) // never fails
		line = line[:0]
	}
	line = append(line, "pages bundle 1\nmanifest "+sum(b.Manifest)...)
	end()
	if w := b.Worker; w != nil {
		line = append(line, "worker "+sum(w.Code)+" "+sum(w.Map)...)
		end()
		for _, m := range w.Modules {
			line = appendString(append(line, "module "...), m.Specifier)
			line = append(line, " "+string(m.Kind)+" "+sum(m.Bytes)...)
			end()
		}
	}
	for _, a := range b.Assets {
		line = appendString(append(line, "asset "...), a.Path)
		line = strconv.AppendInt(append(line, ' '), a.Size, 10)
		line = append(append(append(line, ' '), a.SHA256...), ' ')
		line = appendString(line, a.ContentType)
		end()
	}
	for _, m := range b.Migrations {
		line = appendString(append(line, "migration "...), m.Name)
		line = append(line, " "+m.SHA256...)
		end()
	}
	return hex.EncodeToString(listing.Sum(nil))
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
