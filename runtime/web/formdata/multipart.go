// Package formdata reads and writes multipart/form-data, the bodies of forms.
//
// In: the bytes of a body and its content type, or the fields of a FormData. Out: the fields, or
// the bytes. Errors: TypeErrors with the place of the fault. The functions are safe for
// concurrent use. The package never looks into the files of a form.
package formdata

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/mimetype"
)

const (
	maxParts       = 10_000
	maxPartHeaders = 16 << 10
)

// Funcs returns the host functions of forms and MIME types.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// mime_type(value of Content-Type) -> the MIME type as the standard writes it, or "" if it
		// is none
		"mime_type": func(c *engine.Call) (any, error) {
			if m, ok := mimetype.Extract(c.String(0)); ok {
				return m.String(), nil
			}
			return "", nil
		},
		// multipart_encode(boundary, flat) -> bytes; flat is name, text or bytes, file name or
		// null, type, …
		"multipart_encode": func(c *engine.Call) (any, error) {
			flat, _ := c.Value(1).([]any)
			out := c.Buffer(engine.MaxOutside, nil)
			return out, encodeMultipart(out, c.String(0), flat)
		},
		// multipart_decode(content type, view) -> flat, where a part with a file name has bytes and
		// one without has text
		"multipart_decode": func(c *engine.Call) (any, error) {
			parts, err := decodeMultipart(c.String(0), c.Bytes(1))
			if err != nil {
				return nil, engine.TypeError("The body is not a multipart form: %v", err)
			}
			flat := make([]any, 0, 4*len(parts))
			for _, p := range parts {
				if p.isFile {
					flat = append(flat, p.name, p.body, p.filename, p.contentType)
				} else {
					flat = append(flat, p.name, engine.DecodeUTF8(p.body), nil, "")
				}
			}
			return flat, nil
		},
	}
}

// encodeMultipart writes a form as multipart/form-data (HTML standard, 4.10.21.8).
func encodeMultipart(out io.Writer, boundary string, flat []any) error {
	b := bufio.NewWriter(out) // which keeps its error
	for i := 0; i+3 < len(flat); i += 4 {
		name, _ := flat[i].(string)
		fmt.Fprintf(b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, escapes.Replace(lineEnds.Replace(name)))
		if filename, isFile := flat[i+2].(string); isFile {
			contentType, _ := flat[i+3].(string)
			content, _ := flat[i+1].([]byte)
			fmt.Fprintf(b, "; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n", escapes.Replace(filename), contentType)
			_, _ = b.Write(content)
		} else {
			text, _ := flat[i+1].(string)
			_, _ = b.WriteString("\r\n\r\n")
			_, _ = b.WriteString(lineEnds.Replace(text))
		}
		_, _ = b.WriteString("\r\n")
	}
	fmt.Fprintf(b, "--%s--\r\n", boundary)
	return b.Flush()
}

var (
	lineEnds = strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n")
	escapes  = strings.NewReplacer("\n", "%0A", "\r", "%0D", `"`, "%22")
	unescape = strings.NewReplacer("%0A", "\n", "%0a", "\n", "%0D", "\r", "%0d", "\r", "%22", `"`)
)

type part struct {
	name, filename, contentType string
	isNamed, isFile             bool
	body                        []byte
}

var errTruncated = errors.New("it ends before its last boundary")

// decodeMultipart parses multipart/form-data. Bodies of parts are views of b.
func decodeMultipart(contentType string, b []byte) ([]part, error) {
	kind, _ := mimetype.Parse(contentType)
	boundary, _ := kind.Param("boundary")
	if boundary == "" {
		return nil, errors.New("its content type has no boundary")
	}
	delimiter := []byte("\n--" + boundary) // as on the platform, a line may end without a carriage return
	rest, ok := bytes.CutPrefix(b, delimiter[1:])
	if !ok { // a preamble
		_, rest, ok = bytes.Cut(b, delimiter)
	}
	if !ok {
		return nil, fmt.Errorf("its boundary %q is not in it", boundary)
	}
	var parts []part
	for {
		if bytes.HasPrefix(rest, []byte("--")) {
			return parts, nil
		}
		if len(parts) == maxParts {
			return nil, fmt.Errorf("it has more than %d parts", maxParts)
		}
		p, after, err := nextPart(rest, delimiter)
		if err != nil {
			return nil, err
		}
		parts, rest = append(parts, p), after
	}
}

// nextPart parses a part after its boundary, up to and with the next one.
func nextPart(b, delimiter []byte) (p part, rest []byte, err error) {
	b = bytes.TrimLeft(b, " \t")
	b, ok := bytes.CutPrefix(bytes.TrimPrefix(b, []byte("\r")), []byte("\n"))
	if !ok {
		return p, nil, errors.New("a boundary is not at the end of its line")
	}
	for lines := 0; ; lines++ {
		line, after, ok := bytes.Cut(b, []byte("\n"))
		if !ok || lines > maxPartHeaders/16 || len(line) > maxPartHeaders {
			return p, nil, errTruncated
		}
		b, line = after, bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			break
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			return p, nil, fmt.Errorf("the line %q in the head of a part is not a header", line)
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "content-type":
			p.contentType = value
		case "content-disposition":
			if err := p.disposition(value); err != nil {
				return p, nil, err
			}
		}
	}
	// The line feed before the boundary is the boundary's; an empty body shares the one that ended
	// the headers.
	if rest, ok := bytes.CutPrefix(b, delimiter[1:]); ok {
		return p.check(nil, rest)
	}
	body, rest, ok := bytes.Cut(b, delimiter)
	if !ok {
		return p, nil, errTruncated
	}
	return p.check(bytes.TrimSuffix(body, []byte("\r")), rest)
}

func (p part) check(body, rest []byte) (part, []byte, error) {
	if !p.isNamed {
		return p, nil, errors.New("a part has no name")
	}
	p.body = body
	switch {
	case !p.isFile:
	case p.contentType == "":
		p.contentType = "text/plain"
	case strings.ContainsFunc(p.contentType, func(r rune) bool { return r != '\t' && r < 0x20 || r > 0x7e }):
		p.contentType = ""
	}
	return p, rest, nil
}

// cutQuoted splits the text before the closing quote from the rest.
func cutQuoted(s string) (text, rest string, ok bool) {
	for {
		before, after, found := strings.Cut(s, `"`)
		if !found {
			return "", "", false
		}
		next := strings.TrimLeft(after, " \t")
		escaped, isEscaped := strings.CutSuffix(before, `\`)
		if !isEscaped || next == "" || next[0] == ';' {
			return text + before, after, true
		}
		text, s = text+escaped+`"`, after
	}
}

// disposition reads form-data; name="…"; filename="…". Names are quoted as by browsers: %22, %0D
// and %0A. A backslash is an ordinary character, except before a quote that does not end the name:
// old tools write \" for a quote, which production accepts.
func (p *part) disposition(value string) error {
	kind, rest, _ := strings.Cut(value, ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "form-data") {
		return fmt.Errorf("a part's disposition is %q, not form-data", kind)
	}
	for rest = strings.TrimLeft(rest, " \t;"); rest != ""; rest = strings.TrimLeft(rest, " \t;") {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return fmt.Errorf("a part's disposition %q is malformed", value)
		}
		var text string
		if after, quoted := strings.CutPrefix(after, `"`); quoted {
			if text, rest, ok = cutQuoted(after); !ok {
				return fmt.Errorf("a part's disposition %q has an open quote", value)
			}
		} else {
			text, rest, _ = strings.Cut(after, ";")
		}
		text = engine.DecodeUTF8([]byte(unescape.Replace(text)))
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "name":
			p.name, p.isNamed = text, true
		case "filename":
			// The platform takes an input without a chosen file for text.
			p.filename, p.isFile = text, text != ""
		}
	}
	return nil
}
