package wire

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

const (
	// maxRequest is the maximum number of bytes of the JSON before the bytes of a put: 1,000 keys of 1 KiB, each byte up to six in JSON.
	maxRequest = 8 << 20
	sizeHeader = "CF-R2-Metadata-Size"
)

type bucket struct{ *r2.Bucket }

// request is a request of R2's client. Numbers of 64 bits are strings.
type request struct {
	Method      string       `json:"method"`
	Object      string       `json:"object"`
	Objects     []string     `json:"objects"`
	Range       *span        `json:"range"`
	RangeHeader string       `json:"rangeHeader"`
	OnlyIf      *onlyIf      `json:"onlyIf"`
	Custom      []customItem `json:"customFields"`
	HTTP        *httpFields  `json:"httpFields"`
	MD5         []byte       `json:"md5"` // base64
	SHA1        string       `json:"sha1"`
	SHA256      string       `json:"sha256"`
	SHA384      string       `json:"sha384"`
	SHA512      string       `json:"sha512"`
	Class       string       `json:"storageClass"`
	SSEC        *struct{}    `json:"ssec"`
	Upload      string       `json:"uploadId"`
	Number      int64        `json:"partNumber"`
	Parts       []part       `json:"parts"`
	Limit       *int64       `json:"limit"`
	Prefix      string       `json:"prefix"`
	Cursor      string       `json:"cursor"`
	Delimiter   string       `json:"delimiter"`
	StartAfter  string       `json:"startAfter"`
	Include     []int        `json:"include"`
}

type span struct {
	Offset *number `json:"offset"`
	Length *number `json:"length"`
	Suffix *number `json:"suffix"`
}

type onlyIf struct {
	Match     []etag  `json:"etagMatches"`
	NoneMatch []etag  `json:"etagDoesNotMatch"`
	Before    *number `json:"uploadedBefore"`
	After     *number `json:"uploadedAfter"`
	Seconds   bool    `json:"secondsGranularity"`
}

type etag struct {
	Type  string `json:"type"` // "strong", "weak" or "wildcard"
	Value string `json:"value"`
}

type customItem struct {
	K string `json:"k"`
	V string `json:"v"`
}

type httpFields struct {
	ContentType        string  `json:"contentType,omitempty"`
	ContentLanguage    string  `json:"contentLanguage,omitempty"`
	ContentDisposition string  `json:"contentDisposition,omitempty"`
	ContentEncoding    string  `json:"contentEncoding,omitempty"`
	CacheControl       string  `json:"cacheControl,omitempty"`
	CacheExpiry        *number `json:"cacheExpiry,omitempty"`
}

type part struct {
	ETag   string `json:"etag"`
	Number int64  `json:"part"`
}

// number is a whole number, or one in a string. A greater one than an int64 becomes its greatest.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	found, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errors.New("a number is not whole")
	}
	*n = number(found)
	return nil
}

func (n *number) int64() *int64 { return (*int64)(n) }

// errRequest refuses a request that R2's client never sends.
func errRequest(text string) error {
	return &r2.Error{Code: 10029, Text: text}
}

func parseRequest(raw []byte) (*request, error) {
	q := &request{}
	if err := json.Unmarshal(raw, q); err != nil {
		return nil, errRequest("Metadata missing or invalid: " + err.Error())
	}
	if q.SSEC != nil {
		return nil, errRequest("ssecKey is not supported by this runtime: objects cannot be encrypted with a key of your own")
	}
	return q, nil
}

func (q *request) conditions() (*r2.Conditions, error) {
	if q.OnlyIf == nil {
		return nil, nil
	}
	o := q.OnlyIf
	c := &r2.Conditions{Before: o.Before.int64(), After: o.After.int64(), Seconds: o.Seconds}
	var err error
	if c.Match, c.IfMatch, err = tags(o.Match); err != nil {
		return nil, err
	}
	c.NoneMatch, c.IfNoneMatch, err = tags(o.NoneMatch)
	return c, err
}

// tags is a list of entity tags as a bare one or as a header.
func tags(list []etag) (bare, header *string, err error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	wildcard := "*"
	if slices.ContainsFunc(list, func(t etag) bool { return t.Type == "wildcard" }) {
		return &wildcard, nil, nil
	}
	if len(list) == 1 && list[0].Type == "strong" {
		return &list[0].Value, nil, nil
	}
	var b strings.Builder
	for i, t := range list {
		if strings.Contains(t.Value, `"`) {
			return nil, nil, errRequest("an entity tag has a quote")
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if t.Type == "weak" {
			b.WriteString("W/")
		}
		b.WriteString(`"` + t.Value + `"`)
	}
	header = new(string)
	*header = b.String()
	return nil, header, nil
}

func (q *request) getOptions() (o r2.GetOptions, err error) {
	if o.OnlyIf, err = q.conditions(); err != nil {
		return o, err
	}
	if q.RangeHeader != "" {
		o.Range = &r2.Range{Header: q.RangeHeader}
	} else if q.Range != nil {
		o.Range = &r2.Range{Offset: q.Range.Offset.int64(), Length: q.Range.Length.int64(), Suffix: q.Range.Suffix.int64()}
	}
	return o, nil
}

// target is the destination of a put or a multipart upload.
func (q *request) target() (t r2.Target, err error) {
	if q.Method == "uploadPart" {
		t.Part = &r2.Part{Upload: q.Upload, Number: q.Number}
		return t, nil
	}
	if t.OnlyIf, err = q.conditions(); err != nil {
		return t, err
	}
	if f := q.HTTP; f != nil {
		t.HTTP = &r2.HTTPMetadata{
			ContentType: f.ContentType, ContentLanguage: f.ContentLanguage, ContentDisposition: f.ContentDisposition,
			ContentEncoding: f.ContentEncoding, CacheControl: f.CacheControl, CacheExpiry: f.CacheExpiry.int64(),
		}
	}
	if len(q.Custom) > 0 {
		b := []byte{'{'}
		for i, item := range q.Custom {
			b = append(hostcall.AppendJSONString(hostcall.AppendComma(b, i), item.K), ':')
			b = hostcall.AppendJSONString(b, item.V)
		}
		t.Custom = append(b, '}')
	}
	t.Class = q.Class
	for _, one := range []struct{ hash, digest string }{
		{"md5", hex.EncodeToString(q.MD5)},
		{"sha1", q.SHA1},
		{"sha256", q.SHA256},
		{"sha384", q.SHA384},
		{"sha512", q.SHA512},
	} {
		if one.digest != "" {
			t.Hash, t.Digest = one.hash, one.digest
		}
	}
	return t, nil
}

func (b bucket) serve(ctx context.Context, c *call) error {
	if c.r.URL.Path != "/" {
		return refuse(http.StatusNotFound, "R2 has no %s", c.r.URL.Path)
	}
	switch c.r.Method {
	case http.MethodGet:
		q, err := parseRequest([]byte(c.r.Header.Get("CF-R2-Request")))
		if err != nil {
			return err
		}
		c.record.Method = q.Method
		c.span = q.startSpan(ctx)
		switch q.Method {
		case "head":
			return b.head(ctx, c, q)
		case "get":
			return b.get(ctx, c, q)
		case "list":
			return b.list(ctx, c, q)
		}
	case http.MethodPut:
		q, rest, err := readRequest(ctx, c)
		if err != nil {
			return err
		}
		c.record.Method = q.Method
		c.span = q.startSpan(ctx)
		switch q.Method {
		case "put", "uploadPart":
			return b.put(ctx, c, q, rest)
		case "delete", "createMultipartUpload", "completeMultipartUpload", "abortMultipartUpload":
			return b.change(ctx, c, q)
		}
	}
	return errRequest("R2 has no such method")
}

// startSpan begins the span of a call; a method that R2 does not have gets none.
func (q *request) startSpan(ctx context.Context) trace.Active {
	switch q.Method {
	case "list":
		return r2.StartSpan(ctx, q.Method, q.Prefix)
	case "delete":
		if q.Objects != nil {
			return r2.StartSpan(ctx, q.Method, q.Objects...)
		}
		fallthrough
	case "head", "get", "put", "uploadPart", "createMultipartUpload", "completeMultipartUpload", "abortMultipartUpload":
		return r2.StartSpan(ctx, q.Method, q.Object)
	}
	return trace.Active{}
}

// readRequest reads the JSON at the start of the body; rest is the number of bytes after it, -1 if unknown.
func readRequest(ctx context.Context, c *call) (q *request, rest int64, err error) {
	size, err := strconv.ParseInt(c.r.Header.Get(sizeHeader), 10, 64)
	if err != nil || size < 0 || size > maxRequest || c.r.ContentLength >= 0 && size > c.r.ContentLength {
		return nil, 0, errRequest("Metadata missing or invalid")
	}
	raw := engine.NewBuffer(ctx, size, nil)
	if _, err := raw.ReadFrom(io.LimitReader(c.body(), size)); err != nil {
		return nil, 0, err
	}
	if int64(raw.Len()) != size {
		return nil, 0, io.ErrUnexpectedEOF
	}
	rest = c.r.ContentLength
	if rest >= 0 {
		rest -= size
	}
	const decoded = 12 // times its bytes JSON may become
	if err := engine.Reserve(ctx, decoded*size); err != nil {
		return nil, 0, err
	}
	q, err = parseRequest(raw.Bytes())
	return q, rest, err
}

func (b bucket) head(ctx context.Context, c *call, q *request) error {
	t := c.place(ctx, func() *hostcall.Turn { return b.Reads(q.Object) })
	object, err := hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (*r2.Object, error) { return b.Head(ctx, q.Object) })
	if err != nil {
		return err
	}
	return c.object(object)
}

// object responds with an object, or with R2's refusal of a missing key.
func (c *call) object(o *r2.Object) error {
	if o == nil {
		return c.missing(http.StatusNotFound, codeNoSuchKey, "The specified key does not exist.", nil)
	}
	meta, err := describe(o)
	if err != nil {
		return err
	}
	return c.metadata(meta)
}

// metadata responds with JSON only.
func (c *call) metadata(meta []byte) error {
	c.w.Header().Set(sizeHeader, strconv.Itoa(len(meta)))
	return c.answer(http.StatusOK, "application/json", meta)
}

// missing responds with a refusal that a Worker gets as null, or with the object that did not meet a condition.
func (c *call) missing(status, code int, text string, o *r2.Object) (err error) {
	var meta []byte
	if o != nil {
		if meta, err = describe(o); err != nil {
			return err
		}
		c.w.Header().Set(sizeHeader, strconv.Itoa(len(meta)))
	}
	c.errorHeader(code, text)
	return c.answer(status, "application/json", meta)
}

const preconditionText = "At least one of the pre-conditions you specified did not hold."

func (b bucket) get(ctx context.Context, c *call, q *request) error {
	o, err := q.getOptions()
	if err != nil {
		return err
	}
	var object *r2.Object
	t := c.place(ctx, func() *hostcall.Turn { return b.Reads(q.Object) })
	body, err := hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (body *r2.ObjectReader, err error) {
		object, body, err = b.Get(ctx, q.Object, o)
		return body, err
	})
	if err != nil {
		return err
	}
	if object == nil {
		return c.object(nil)
	}
	if body == nil {
		return c.missing(http.StatusPreconditionFailed, codePrecondition, preconditionText, object)
	}
	meta, err := describe(object)
	if err != nil {
		return errors.Join(err, body.Close())
	}
	h := c.w.Header()
	h.Set(sizeHeader, strconv.Itoa(len(meta)))
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.FormatInt(int64(len(meta))+body.Len(), 10))
	c.head(http.StatusOK)
	if _, err := c.write(meta); err != nil {
		return errors.Join(err, body.Close())
	}
	return c.send(body)
}

func (b bucket) put(ctx context.Context, c *call, q *request, rest int64) error {
	to, err := q.target()
	if err != nil {
		return err
	}
	var stored r2.Stored
	if rest < 0 || rest > smallBody {
		c.arrival.done()
		stored, err = b.PutStream(ctx, q.Object, c.body(), to)
	} else {
		content, readErr := c.whole(ctx, maxRequest+smallBody, errRequest("the body is longer than was said"))
		if readErr != nil {
			return readErr
		}
		t := c.place(ctx, func() *hostcall.Turn { return b.Puts(q.Object, to) })
		stored, err = hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (r2.Stored, error) {
			return b.PutBytes(ctx, q.Object, content, to)
		})
	}
	switch {
	case err != nil:
		return err
	case stored.Part != nil:
		return c.json(map[string]string{"etag": stored.Part.ETag})
	case stored.Object == nil:
		return c.missing(http.StatusPreconditionFailed, codePrecondition, preconditionText, nil)
	}
	return c.object(stored.Object)
}

func (c *call) json(v any) error {
	meta, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.metadata(meta)
}

// change runs the writes without a body.
func (b bucket) change(ctx context.Context, c *call, q *request) error {
	keys := q.Objects
	if keys == nil {
		keys = []string{q.Object}
	}
	take := func() *hostcall.Turn { return b.Writes(keys...) }
	if q.Method != "delete" && q.Method != "completeMultipartUpload" {
		take = func() *hostcall.Turn { return b.Reads() }
	}
	answer, err := hostcall.Run(ctx, c.place(ctx, take), func(ctx context.Context, _ *hostcall.Turn) (any, error) {
		switch q.Method {
		case "createMultipartUpload":
			to, err := q.target()
			if err != nil {
				return nil, err
			}
			id, err := b.CreateMultipart(ctx, q.Object, to.PutOptions)
			return map[string]string{"uploadId": id}, err
		case "completeMultipartUpload":
			parts := make([]r2.UploadedPart, len(q.Parts))
			for i, p := range q.Parts {
				parts[i] = r2.UploadedPart{Number: p.Number, ETag: p.ETag}
			}
			return b.CompleteMultipart(ctx, q.Object, q.Upload, parts)
		case "abortMultipartUpload":
			return nil, b.AbortMultipart(ctx, q.Object, q.Upload)
		}
		return nil, b.Delete(ctx, keys...)
	})
	switch made := answer.(type) {
	case nil:
		if err == nil {
			c.w.Header().Set("Content-Length", "0")
			c.head(http.StatusOK)
		}
		return err
	case *r2.Object:
		if err != nil {
			return err
		}
		return c.object(made)
	default:
		if err != nil {
			return err
		}
		return c.json(made)
	}
}

func (b bucket) list(ctx context.Context, c *call, q *request) error {
	o := r2.ListOptions{Prefix: q.Prefix, Delimiter: q.Delimiter, Cursor: q.Cursor, StartAfter: q.StartAfter, Limit: q.Limit}
	for _, field := range q.Include {
		if field < 0 || field > 1 {
			return errRequest("this field cannot be included")
		}
		o.Include = append(o.Include, []string{"httpMetadata", "customMetadata"}[field])
	}
	t := c.place(ctx, func() *hostcall.Turn { return b.Lists(o.Prefix) })
	page, err := hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (*r2.Listing, error) { return b.List(ctx, o) })
	if err != nil {
		return err
	}
	out := []byte(`{"objects":[`)
	for i, object := range page.Objects {
		one, err := describe(object)
		if err != nil {
			return err
		}
		out = append(hostcall.AppendComma(out, i), one...)
	}
	out = append(out, `],"delimitedPrefixes":[`...)
	for i, prefix := range page.Prefixes {
		out = hostcall.AppendJSONString(hostcall.AppendComma(out, i), prefix)
	}
	out = strconv.AppendBool(append(out, `],"truncated":`...), page.Truncated)
	if page.Cursor != "" {
		out = hostcall.AppendJSONString(append(out, `,"cursor":`...), page.Cursor)
	}
	return c.metadata(append(out, '}'))
}

// hashes are the algorithms by their numbers in R2's protocol.
var hashes = [...]string{"md5", "sha1", "sha256", "sha384", "sha512"}

// object is an object in the form of R2's client.
type object struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Size      int64             `json:"size"`
	ETag      string            `json:"etag"`
	Uploaded  int64             `json:"uploaded"`
	HTTP      *httpFields       `json:"httpFields,omitempty"`
	Custom    *[]customItem     `json:"customFields,omitempty"`
	Range     *r2.Span          `json:"range,omitempty"`
	Checksums map[string]string `json:"checksums"`
	Class     string            `json:"storageClass,omitempty"`
}

// describe converts an object to the form of R2's client.
func describe(o *r2.Object) ([]byte, error) {
	out := object{
		Name: o.Key, Version: o.Version, Size: o.Size, ETag: o.ETag, Uploaded: o.Uploaded, Range: o.Range, Class: o.Class,
		Checksums: map[string]string{},
	}
	for i, name := range hashes {
		if sum := o.Checksums[name]; sum != "" {
			out.Checksums[strconv.Itoa(i)] = sum
		}
	}
	if m := o.HTTP; m != nil {
		out.HTTP = &httpFields{
			m.ContentType, m.ContentLanguage, m.ContentDisposition, m.ContentEncoding, m.CacheControl, (*number)(m.CacheExpiry),
		}
	}
	if o.Custom != nil {
		fields, err := customFields(o.Custom)
		if err != nil {
			return nil, err
		}
		out.Custom = &fields
	}
	return json.Marshal(out)
}

// customFields are the fields of an object of strings, in their order.
func customFields(raw json.RawMessage) ([]customItem, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	list := []customItem{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		var value string
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		list = append(list, customItem{key, value})
	}
	return list, nil
}
