package trace

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file has the attributes of spans, and takes secrets out of their texts.

// kind is the kind of an attribute's value.
type kind int

const (
	kindText kind = iota
	kindSQL
	kindURL
	kindWord
	kindNumber
)

// Attribute is a name with a text or a whole number.
type Attribute struct {
	Key    string
	kind   kind
	text   string
	number int64
}

// Text returns an attribute with a text.
func Text(key, value string) Attribute { return Attribute{Key: key, text: value} }

// Word returns an attribute with a constant of the program: it holds no secret.
func Word(key, value string) Attribute { return Attribute{Key: key, kind: kindWord, text: value} }

// SQL returns an attribute with SQL, of which a Document has everything but the values, and the name of the operation before it.
func SQL(key, value string) Attribute { return Attribute{Key: key, kind: kindSQL, text: value} }

// URL returns an attribute with a URL, of which a Document has everything but its user, its fragment and the secrets in its query.
func URL(key, value string) Attribute { return Attribute{Key: key, kind: kindURL, text: value} }

// Int returns an attribute with a number.
func Int(key string, value int64) Attribute {
	return Attribute{Key: key, kind: kindNumber, number: value}
}

// Value returns the text, or the number as an int64.
func (a Attribute) Value() any {
	if a.kind == kindNumber {
		return a.number
	}
	return a.text
}

// Attributes are those of one span, in their order. They are an object in JSON.
type Attributes []Attribute

// Text returns the text of a name, "" for none.
func (l Attributes) Text(key string) string {
	for _, a := range l {
		if a.Key == key && a.kind != kindNumber {
			return a.text
		}
	}
	return ""
}

// Int returns the number of a name.
func (l Attributes) Int(key string) (n int64, ok bool) {
	for _, a := range l {
		if a.Key == key && a.kind == kindNumber {
			return a.number, true
		}
	}
	return 0, false
}

// MarshalJSON implements json.Marshaler.
func (l Attributes) MarshalJSON() ([]byte, error) { return l.appendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler. Values that are neither texts nor whole numbers are left out.
func (l *Attributes) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	*l = Attributes{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		name, _ := key.(string)
		var text string
		if json.Unmarshal(value, &text) == nil {
			*l = append(*l, Text(name, text))
		} else if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			*l = append(*l, Int(name, n))
		}
	}
	return nil
}

// clean returns a copy without secrets.
func (t *Trace) clean(list []Attribute) Attributes {
	const operations = 1
	cleaned := make(Attributes, 0, len(list)+operations)
	for _, a := range list {
		switch a.kind {
		case kindSQL: // names such as "token" are no secrets there
			if operation := verb(a.text); operation != "" {
				cleaned = append(cleaned, Word(DBOperation, t.masked(operation)))
			}
			a.text = t.masked(withoutValues(a.text))
			cleaned = append(cleaned, a)
			continue
		case kindURL:
			a.text = t.masked(publicURL(a.text))
			cleaned = append(cleaned, a)
			continue
		case kindText:
			if sourcetext.LooksLikeKey(a.text) {
				a.text = sourcetext.Stars(len(a.text))
			}
		case kindNumber, kindWord:
			cleaned = append(cleaned, a)
			continue
		}
		a.text = t.shown(a.text)
		cleaned = append(cleaned, a)
	}
	return cleaned
}

// shown returns a text without keys, and without the secrets of the site.
func (t *Trace) shown(text string) string { return sourcetext.WithoutKeys(t.masked(text)) }

// masked returns a text without the secrets of the site.
func (t *Trace) masked(text string) string {
	if t.mask != nil {
		text = t.mask.Replace(text)
	}
	return strings.ToValidUTF8(text, "�")
}

// publicURL returns a URL without its user and its fragment, and with stars for secrets in its query.
func publicURL(text string) string {
	text, _, _ = strings.Cut(text, "#")
	text, query, asks := strings.Cut(text, "?")
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			text = scheme + "://" + host[at+1:] + strings.TrimPrefix(rest, host)
		}
		for part := range strings.SplitSeq(path, "/") {
			plain, err := url.PathUnescape(part)
			if err == nil && sourcetext.LooksLikeKey(plain) {
				text = strings.Replace(text, "/"+part, "/"+sourcetext.Stars(len(part)), 1)
			}
		}
	}
	if asks {
		text += "?" + sourcetext.MaskQuery(query)
	}
	return text
}

// shownKeys bounds the keys that an attribute names.
const shownKeys = 20

// Keys is an attribute with the keys of a call, the first of many.
func Keys(name string, keys []string) Attribute {
	text := strings.Join(keys[:min(len(keys), shownKeys)], ", ")
	if len(keys) > shownKeys {
		text += ", …"
	}
	return Text(name, text)
}
