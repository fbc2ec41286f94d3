package bundler

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// digest is the SHA-256, in hex, of this listing: one line each, ended by a
// line feed, fields parted by one space, hashes in hex, strings as RFC 8785
// writes them.
//
//	pages bundle 1
//	manifest <sha256>
//	worker <sha256 of code> <sha256 of map>          with a Worker
//	module "<specifier>" <kind> <sha256>             each, by specifier
//	asset "<path>" <size> <sha256> "<content type>"  each, by path
//	migration "<name>" <sha256>                      each, by name
//
// The source map counts: two Workers that differ in a comment answer alike, but
// point at other lines when they throw. Where the files were read from does not
// count.
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
