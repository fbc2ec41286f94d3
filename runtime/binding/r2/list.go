package r2

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// ListOptions say which objects to list.
type ListOptions struct {
	Prefix    string `json:"prefix"`
	Delimiter string `json:"delimiter"`
	// Cursor is that of the page before; StartAfter is a key. The later of
	// the two places counts.
	Cursor     string `json:"cursor"`
	StartAfter string `json:"startAfter"`
	Limit      *int64 `json:"limit"` // 1 to 1000, nil means 1000
	// Include names what else objects carry: "httpMetadata", "customMetadata".
	Include []string `json:"include"`
}

// Listing is one page of a list, in the order of the keys' bytes.
type Listing struct {
	Objects   []*Object `json:"objects"`
	Prefixes  []string  `json:"delimitedPrefixes"`
	Truncated bool      `json:"truncated"`
	Cursor    string    `json:"cursor,omitempty"` // set when truncated
}

// List returns the first page of what is after the options' place: objects,
// and, for keys that have the delimiter after the prefix, what comes up to and
// with it, once.
func (s *Bucket) List(ctx context.Context, o ListOptions) (*Listing, error) {
	limit := int64(maxListed)
	if o.Limit != nil {
		limit = *o.Limit
	}
	if limit < 1 || limit > maxListed {
		return nil, refuse(codeBadMaxKeys).in("list")
	}
	from, err := o.from()
	if err != nil {
		return nil, err.in("list")
	}
	page := Listing{Objects: []*Object{}, Prefixes: []string{}}
	for {
		room := int(limit) - len(page.Objects) - len(page.Prefixes)
		objects, err := s.after(ctx, from, successor(o.Prefix), room+1)
		if err != nil {
			return nil, internal("list", err)
		}
		next := page.take(objects, o, room)
		if next == nil {
			return &page, nil
		}
		if len(page.Objects)+len(page.Prefixes) < int(limit) {
			from = next // behind a delimited prefix
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

// from is the first key, existing or not, that may be listed.
func (o *ListOptions) from() ([]byte, *Error) {
	from := []byte(o.Prefix)
	if o.StartAfter != "" {
		from = larger(from, append([]byte(o.StartAfter), 0))
	}
	if o.Cursor == "" {
		return from, nil
	}
	cursor, err := base64.RawURLEncoding.DecodeString(o.Cursor)
	if err != nil {
		return nil, &Error{Code: codeInvalidArgument, Text: "The cursor is not one that a list returned."}
	}
	return larger(from, cursor), nil
}

func larger(a, b []byte) []byte {
	if slices.Compare(a, b) < 0 {
		return b
	}
	return a
}

// take adds at most room of the objects, or the first delimited prefix met, and
// returns where to go on; nil means that all were taken.
func (l *Listing) take(objects []*Object, o ListOptions, room int) []byte {
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

// successor is the first place behind all keys that begin with prefix; nil
// when there is none. UTF-8 has no byte 0xff, so raising the last byte will do.
func successor(prefix string) []byte {
	if prefix == "" {
		return nil
	}
	next := []byte(prefix)
	next[len(next)-1]++
	return next
}

// after reads at most n objects with keys from from up to but not with end.
func (s *Bucket) after(ctx context.Context, from, end []byte, n int) (_ []*Object, err error) {
	if from == nil {
		from = []byte{}
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+objectColumns+` FROM storage_objects
		WHERE key >= ?1 AND (?2 IS NULL OR key < ?2) ORDER BY key LIMIT ?3`, from, nullable(end), n)
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

// nullable makes NULL of no bytes.
func nullable(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}
