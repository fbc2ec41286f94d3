package site

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pages-toolchain/pages/devserver/spam"
)

// File describes an uploaded file in a lead, as the value of its field. The bytes are an object of [Files].
type File struct {
	Filename    string `json:"filename"` // without folders, at most 255 bytes
	Size        int64  `json:"size"`
	ContentType string `json:"content_type"` // from the client
	SHA256      string `json:"sha256"`
}

// formReader collects the answers of one post and enforces the limits.
type formReader struct {
	answers []answer
	control map[string]string // values of the platform's own fields
	text    int               // bytes of names and values so far
	files   int
	keep    Files // nil for none
	ctx     context.Context
	uploads []*upload
	plain   bool       // no field is the platform's, and no file is kept
	unkept  []keptFile // the files, in that case
}

// answer is one name and value; fields groups those of one name.
type answer struct {
	name  string
	value json.RawMessage
}

var (
	errFormTooLarge  = refuse(http.StatusRequestEntityTooLarge, "form_too_large", "the form holds more than 1 MiB of text")
	errNameTooLong   = refuse(http.StatusRequestEntityTooLarge, "field_name_too_long", "the name of one answer is longer than 16 KiB")
	errFieldTooLarge = refuse(http.StatusRequestEntityTooLarge, "field_too_large", "one answer is longer than 64 KiB")
	errFileTooLarge  = refuse(http.StatusRequestEntityTooLarge, "file_too_large", "one file is larger than 5 MiB")
	errTooManyFields = refuse(http.StatusUnprocessableEntity, "too_many_fields", "the form has more than 100 answers")
	errTooManyFiles  = refuse(http.StatusUnprocessableEntity, "too_many_files", "the form has more than 5 files")
	errFormEmpty     = refuse(http.StatusUnprocessableEntity, "form_empty", "the form was sent without a single field")
	errFormAmbiguous = refuse(http.StatusUnprocessableEntity, "form_ambiguous",
		"the post names two forms: the field \"form\" says which one was sent, so no other field may be called that")
	errFormMalformed = refuse(http.StatusBadRequest, "form_malformed", "the form data is malformed")
	errNoBoundary    = refuse(http.StatusBadRequest, "form_malformed",
		"the Content-Type multipart/form-data names no boundary: do not set that header in a script, since the browser sets it with one")
	errFormType = refuse(http.StatusUnsupportedMediaType, "form_type_unknown",
		"a form is sent as application/x-www-form-urlencoded, multipart/form-data or application/json, in UTF-8")
	errFormEncoded = refuse(http.StatusUnsupportedMediaType, "form_encoded", "a form is sent as it is, without a Content-Encoding")
	errFieldTwice  = refuse(http.StatusBadRequest, "field_twice", "the JSON object has the same key twice")
	errJSONObject  = refuse(http.StatusBadRequest, "form_malformed", "the body is not a JSON object")
	errJSONDeep    = refuse(http.StatusBadRequest, "form_malformed", "the JSON is nested more than 64 deep")
)

// readForm reads the body of a post. Its files become objects with their commit. Errors are refusals, unless reading the body or storing a
// file failed.
func readForm(w http.ResponseWriter, r *http.Request, keep Files) (*formReader, error) {
	f := &formReader{control: map[string]string{}, keep: keep, ctx: r.Context()}
	err := f.read(w, r)
	if _, named := f.control[fieldForm]; err == nil && !named && len(f.answers) == 0 {
		err = errFormEmpty
	}
	return f, err
}

// The media types of forms in browsers.
const (
	formURLEncoded = "application/x-www-form-urlencoded"
	formMultipart  = "multipart/form-data"
)

func (f *formReader) read(w http.ResponseWriter, r *http.Request) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return errFormType
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return errFormType
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return errFormEncoded
	}
	switch kind {
	case formURLEncoded:
		err = f.readURLEncoded(http.MaxBytesReader(w, r.Body, maxFormBytes))
	case formMultipart:
		const all = maxFormBytes + maxFormFiles*maxFileBytes + maxFormBytes // text, files, part headers
		err = f.multipart(http.MaxBytesReader(w, r.Body, all), params["boundary"])
	case "application/json":
		err = f.json(http.MaxBytesReader(w, r.Body, maxFormBytes))
	default:
		return errFormType
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errFormTooLarge
	}
	return err
}

// The platform's own fields of a post.
const (
	fieldForm  = "form"
	fieldNext  = "_next"
	fieldToken = "_token"
	fieldStamp = "_stamp"
	fieldProof = "altcha" // the name that the widget of the npm package altcha uses
)

// isReservedField reports whether a field belongs to the platform; every other field belongs to the author.
func isReservedField(name string) bool {
	own := []string{fieldForm, fieldNext, fieldToken, fieldStamp, fieldProof}
	return slices.Contains(own, name) || spam.IsHoneypot(name)
}

// add appends one answer that is text.
func (f *formReader) add(name, value string) error {
	name, value = strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD")
	if f.text += len(name) + len(value); f.text > maxFormBytes {
		return errFormTooLarge
	}
	if err := checkField(name, len(value)); err != nil {
		return err
	}
	if !f.plain && isReservedField(name) {
		if before, ok := f.control[name]; ok && before != value && name == fieldForm {
			return errFormAmbiguous
		}
		if !spam.IsHoneypot(name) || f.control[name] == "" { // of several honeypots, a filled one counts
			f.control[name] = value
		}
		return nil
	}
	raw, err := marshal(value)
	if err != nil {
		return err
	}
	return f.addRaw(name, raw)
}

// checkField enforces the limits of one answer.
func checkField(name string, size int) error {
	switch {
	case len(name) > maxFieldName:
		return errNameTooLong
	case size > maxFieldBytes:
		return errFieldTooLarge
	}
	return nil
}

func (f *formReader) addRaw(name string, value json.RawMessage) error {
	if len(f.answers) >= maxFormFields {
		return errTooManyFields
	}
	f.answers = append(f.answers, answer{name, value})
	return nil
}

// fields groups the answers by name: a name that occurs once keeps its value, one that occurs more often gets an array.
func (f *formReader) fields() Fields {
	fields := Fields{}
	at := map[string]int{}
	several := map[string][][]byte{}
	for _, a := range f.answers {
		i, seen := at[a.name]
		several[a.name] = append(several[a.name], a.value)
		if !seen {
			at[a.name] = len(fields)
			fields = append(fields, Field{Name: a.name, Value: a.value})
			continue
		}
		fields[i].Value = append(append(json.RawMessage{'['}, bytes.Join(several[a.name], []byte{','})...), ']')
	}
	return fields
}

// readURLEncoded reads the encoding of browsers: "&" separates, ";" is an ordinary character.
func (f *formReader) readURLEncoded(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	for pair := range strings.SplitSeq(string(text), "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		if err := f.add(unescapeForm(rawName), unescapeForm(rawValue)); err != nil {
			return err
		}
	}
	return nil
}

// unescapeForm decodes a name or a value as the URL standard does: an invalid escape stays unchanged.
func unescapeForm(text string) string {
	text = strings.ReplaceAll(text, "+", " ")
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// multipart reads part by part, so that no file is ever in memory.
func (f *formReader) multipart(body io.Reader, boundary string) error {
	switch {
	case boundary == "":
		return errNoBoundary
	case len(boundary) > 70:
		return errFormMalformed
	}
	reader := multipart.NewReader(body, boundary)
	for parts := 0; ; parts++ {
		part, err := reader.NextPart()
		if err == io.EOF { // not wrapped: it would look like a premature end
			return nil
		}
		if err != nil {
			return partError(err)
		}
		if parts >= maxFormParts {
			return errTooManyFields
		}
		if err := f.part(part); err != nil {
			return err
		}
	}
}

// partError returns the error of the body's limit unchanged, and calls any other error malformed.
func partError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return errFormMalformed
}

func (f *formReader) part(part *multipart.Part) error {
	if tooManyLines(part.Header) {
		return errFormMalformed
	}
	kind := part.Header.Get("Content-Type")
	name := unescapePart.Replace(part.FormName())
	if name == "" || strings.HasPrefix(strings.ToLower(kind), "multipart/") {
		return errFormMalformed
	}
	disposition := part.Header.Get("Content-Disposition")
	if _, params, err := mime.ParseMediaType(disposition); err != nil {
		return errFormMalformed
	} else if filename, ok := params["filename"]; ok {
		return f.file(part, name, unescapePart.Replace(filename), kind)
	}
	value, err := io.ReadAll(io.LimitReader(part, maxFieldBytes+1))
	if err != nil {
		return partError(err)
	}
	return f.add(name, string(value))
}

// unescapePart decodes names in the encoding of browsers for the head of a part (HTML standard, section 4.10.21.8).
var unescapePart = strings.NewReplacer("%0A", "\n", "%0a", "\n", "%0D", "\r", "%0d", "\r", "%22", `"`)

// file reads a file. Browsers send an input without a chosen file as a file without name and bytes: that does not count as an answer.
func (f *formReader) file(part *multipart.Part, name, filename, kind string) error {
	body := bufio.NewReader(io.LimitReader(part, maxFileBytes+1))
	if _, err := body.Peek(1); errors.Is(err, io.EOF) && filename == "" {
		return nil
	}
	if f.files++; f.files > maxFormFiles {
		return errTooManyFiles
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	if f.plain {
		f.unkept = append(f.unkept, keptFile{name, cleanFilename(filename)})
		return nil
	}
	if isReservedField(name) {
		return errFormMalformed
	}
	if err := checkField(name, 0); err != nil {
		return err
	}
	if len(kind) > maxFileName {
		kind = ""
	}
	file := File{Filename: cleanFilename(filename), ContentType: strings.ToValidUTF8(kind, "\uFFFD")}
	if err := f.receive(name, &file, body); err != nil {
		return err
	}
	raw, err := marshal(file)
	if err != nil {
		return err
	}
	return f.addRaw(name, raw)
}

// receive streams the bytes of a file into its object.
func (f *formReader) receive(field string, file *File, body io.Reader) error {
	hash := sha256.New()
	var to io.Writer = hash
	u := &upload{}
	if f.keep != nil {
		u.key = newID("file_")
		var err error
		if u.to, err = f.keep.Begin(f.ctx, u.key); err != nil {
			return errors.Join(errFileNotStored, err)
		}
		f.uploads = append(f.uploads, u)
		to = io.MultiWriter(hash, u)
	}
	size, err := io.Copy(to, body)
	switch {
	case u.failed != nil:
		return errors.Join(errFileNotStored, u.failed)
	case err != nil:
		return partError(err)
	case size > maxFileBytes:
		return errFileTooLarge
	}
	file.Size, file.SHA256 = size, hex.EncodeToString(hash.Sum(nil))
	u.Field, u.File = field, *file
	return nil
}

// cleanFilename keeps the last part of a Unix or Windows path, without control and format characters.
func cleanFilename(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, filepath.ToSlash(name))
	for len(name) > maxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// json reads one object whose keys are the fields. It keeps every value unchanged, except that bytes that are not UTF-8 and escapes of half
// a character become U+FFFD.
func (f *formReader) json(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if err := checkJSON(text); err != nil {
		return err
	}
	var fields Fields
	if err := json.Unmarshal(text, &fields); err != nil {
		return errJSONObject
	}
	for _, each := range fields {
		if isReservedField(each.Name) {
			var value string
			err := json.Unmarshal(each.Value, &value)
			if err != nil && spam.IsHoneypot(each.Name) { // a script may send false
				value, err = strings.TrimPrefix(string(each.Value), "false"), nil
			}
			if err != nil {
				return refuse(http.StatusBadRequest, "form_malformed", "\""+each.Name+"\" is no text")
			}
			if err := f.add(each.Name, value); err != nil {
				return err
			}
			continue
		}
		value := jsontext.Value(each.Value)
		if err := value.Format(jsontext.AllowInvalidUTF8(true)); err != nil {
			return errJSONObject
		}
		each.Value = json.RawMessage(value)
		if err := checkField(each.Name, len(each.text())); err != nil {
			return err
		}
		if err := f.addRaw(each.Name, each.Value); err != nil {
			return err
		}
	}
	return nil
}

// checkJSON checks a document: one value and nothing after it, no duplicate key, not too deep.
func checkJSON(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true))
	for values := 0; ; {
		_, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && values == 1:
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return errFieldTwice
		case err != nil:
			return errJSONObject
		case d.StackDepth() > maxJSONDepth:
			return errJSONDeep
		case d.StackDepth() == 0:
			values++
		}
	}
}
