package r2

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// ListOptions select the objects of a list.
type ListOptions struct {
	Prefix    string `json:"prefix"`
	Delimiter string `json:"delimiter"`
	// Cursor is that of the page before; StartAfter is a key. The later of the two places counts.
	Cursor     string `json:"cursor"`
	StartAfter string `json:"startAfter"`
	Limit      *int64 `json:"limit"` // 1 to 1000, nil means 1000
	// Include names further fields of objects: "httpMetadata", "customMetadata".
	Include []string `json:"include"`
}

// Listing is one page of a list, in the order of the keys' bytes.
type Listing struct {
	Objects   []*Object `json:"objects"`
	Prefixes  []string  `json:"delimitedPrefixes"`
	Truncated bool      `json:"truncated"`
	Cursor    string    `json:"cursor,omitempty"` // set when truncated
}

// List returns the first page after the options' cursor and key: objects, and, for keys that have the delimiter after the
// prefix, once the part up to and with the delimiter.
func (s *Bucket) List(ctx context.Context, o ListOptions) (*Listing, error) {
	limit := int64(maxListed)
	if o.Limit != nil {
		limit = *o.Limit
	}
	if limit < 1 || limit > maxListed {
		return nil, refuse(codeBadMaxKeys).in("list")
	}
	var startAfter []byte
	if o.StartAfter != "" {
		startAfter = append([]byte(o.StartAfter), 0)
	}
	cursor, err := base64.RawURLEncoding.DecodeString(o.Cursor)
	if err != nil {
		return nil, (&Error{Code: codeInvalidArgument, Text: "The cursor is not one that a list returned."}).in("list")
	}
	from := slices.MaxFunc([][]byte{[]byte(o.Prefix), startAfter, cursor}, bytes.Compare)
	page := Listing{Objects: []*Object{}, Prefixes: []string{}}
	for {
		room := int(limit) - len(page.Objects) - len(page.Prefixes)
		objects, err := s.after(ctx, from, successor(o.Prefix), room+1)
		if err != nil {
			return nil, internal("list", err)
		}
		next := page.add(objects, o, room)
		if next == nil {
			return &page, nil
		}
		if len(page.Objects)+len(page.Prefixes) < int(limit) {
			from = next // after a delimited prefix
			continue
		}
		more, err := s.after(ctx, next, successor(o.Prefix), 1)
		if err != nil {
			return nil, internal("list", err)
		}
		if len(more) > 0 {
			page.Truncated, page.Cursor = true, base64.RawURLEncoding.EncodeToString(next)
		}
		return &page, nil
	}
}

// add adds at most room of the objects, or the first delimited prefix, and returns the start of the rest; nil means that all were added.
func (l *Listing) add(objects []*Object, o ListOptions, room int) []byte {
	for i, object := range objects {
		if i == room {
			return []byte(object.Key)
		}
		rest := strings.TrimPrefix(object.Key, o.Prefix)
		if at := strings.Index(rest, o.Delimiter); o.Delimiter != "" && at >= 0 {
			group := object.Key[:len(object.Key)-len(rest)+at+len(o.Delimiter)]
			l.Prefixes = append(l.Prefixes, group)
			return successor(group)
		}
		if !slices.Contains(o.Include, "httpMetadata") {
			object.HTTP = nil
		}
		if !slices.Contains(o.Include, "customMetadata") {
			object.Custom = nil
		}
		l.Objects = append(l.Objects, object)
	}
	return nil
}

// successor is the first place after all keys that begin with prefix; nil when prefix is empty. UTF-8 has no byte 0xff, so
// the last byte can be raised.
func successor(prefix string) []byte {
	if prefix == "" {
		return nil
	}
	next := []byte(prefix)
	next[len(next)-1]++
	return next
}

// after reads at most n objects with keys between from, included, and end, excluded.
func (s *Bucket) after(ctx context.Context, from, end []byte, n int) (_ []*Object, err error) {
	if from == nil {
		from = []byte{}
	}
	var before any // NULL
	if end != nil {
		before = end
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+objectColumns+` FROM storage_objects
		WHERE key >= ?1 AND (?2 IS NULL OR key < ?2) ORDER BY key LIMIT ?3`, from, before, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var objects []*Object
	for rows.Next() {
		o, err := scanObject(rows.Scan)
		if err != nil {
			return nil, err
		}
		const beside = 512 // a key's other columns
		if err := engine.Reserve(ctx, int64(len(o.Key)+len(o.Custom))+beside); err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, rows.Err()
}
