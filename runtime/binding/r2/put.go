package r2

import (
	"context"
	"crypto/md5"  // R2's entity tags are MD5
	"crypto/sha1" // one of R2's checksums
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// PutOptions are what an object is stored with.
type PutOptions struct {
	OnlyIf *Conditions   `json:"onlyIf"`
	HTTP   *HTTPMetadata `json:"httpMetadata"`
	// Custom is a JSON object of strings; empty means none.
	Custom json.RawMessage `json:"customMetadata"`
	// Hash names the checksum the bytes must have ("md5" … "sha512") and
	// Digest is its hex; "" means none is asked for.
	Hash   string `json:"hash"`
	Digest string `json:"digest"`
	// Class is "Standard" (the default) or "InfrequentAccess".
	Class string `json:"storageClass"`
}

// hashes are the checksums a put may name, with the words R2 calls them by.
var hashes = map[string]struct {
	name string
	make func() hash.Hash
}{
	"md5":    {"MD5", md5.New},
	"sha1":   {"SHA-1", sha1.New},
	"sha256": {"SHA-256", sha256.New},
	"sha384": {"SHA-384", sha512.New384},
	"sha512": {"SHA-512", sha512.New},
}

// Put stores the bytes of body at key and returns the new object, or nil when
// a condition did not hold. Until it returns, and for ever when it fails, key
// has what it had before.
func (s *Bucket) Put(ctx context.Context, key string, body io.Reader, o PutOptions) (*Object, error) {
	u, err := s.Begin(key, o)
	if err != nil {
		return nil, err
	}
	defer u.Abort()
	if _, err := io.Copy(u, body); err != nil {
		return nil, s.failed("put", err)
	}
	return u.Commit(ctx)
}

// Begin starts a put whose bytes come in pieces: Write them, then Commit. Abort
// after Commit does nothing.
func (s *Bucket) Begin(key string, o PutOptions) (*Upload, error) {
	if err := checkKey(key); err != nil {
		return nil, err.in("put")
	}
	if err := o.check(); err != nil {
		return nil, err.in("put")
	}
	u, err := s.newUpload("put", key)
	if err != nil {
		return nil, err
	}
	u.options = o
	if h, ok := hashes[o.Hash]; ok {
		u.extra = h.make()
	}
	return u, nil
}

// check refuses options over R2's limits or against its shapes.
func (o *PutOptions) check() *Error {
	if _, err := o.OnlyIf.hold(nil); err != nil {
		return err
	}
	switch o.Class {
	case "":
		o.Class = "Standard"
	case "Standard", "InfrequentAccess":
	default:
		return &Error{Code: codeInvalidArgument, Text: fmt.Sprintf("%q is not a storage class; use Standard or InfrequentAccess.", o.Class)}
	}
	if _, ok := hashes[o.Hash]; !ok && o.Hash != "" {
		return &Error{Code: codeInvalidArgument, Text: fmt.Sprintf("%q is not a checksum.", o.Hash)}
	}
	if o.HTTP == nil {
		o.HTTP = &HTTPMetadata{}
	}
	if len(o.Custom) == 0 {
		o.Custom = json.RawMessage("{}")
	}
	var custom map[string]string
	if err := json.Unmarshal(o.Custom, &custom); err != nil || custom == nil {
		return &Error{Code: codeInvalidArgument, Text: "customMetadata is not an object of strings."}
	}
	size := 0
	for name, value := range custom {
		size += metadataSize(name) + metadataSize(value)
	}
	if size > maxMetadataBytes {
		return refuse(codeMetadataTooBig)
	}
	return nil
}

// metadataSize is how R2 counts a text of custom metadata: one byte a
// character while all are Latin-1, otherwise two bytes a UTF-16 unit.
func metadataSize(text string) int {
	if strings.IndexFunc(text, func(r rune) bool { return r > 0xff }) < 0 {
		return utf8.RuneCountInString(text)
	}
	return 2 * len(utf16.Encode([]rune(text)))
}

func checkKey(key string) *Error {
	if key == "" || len(key) > maxKeyBytes || !utf8.ValidString(key) {
		return refuse(codeBadName)
	}
	return nil
}
