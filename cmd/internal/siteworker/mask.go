package siteworker

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// shortestSecret is the length in bytes from which a secret is masked: shorter values would mask parts of ordinary words.
const shortestSecret = 4

// MaskOf returns a replacer that removes the values of secrets from the logs and errors of a Worker, in plain text, in JSON, in an address,
// in base64 or hex, and line by line. A name replaces them. Responses stay unchanged.
func MaskOf(secrets map[string]string) *strings.Replacer {
	names := map[string]string{} // by form of the value
	for name, value := range secrets {
		for _, form := range formsOf(value) {
			if len(form) >= shortestSecret {
				names[form] = name
			}
		}
	}
	// The longest first: one secret may be part of another.
	forms := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, "[secret "+names[form]+"]")
	}
	return strings.NewReplacer(pairs...)
}

// inAddress turns the output of url.QueryEscape into that of encodeURIComponent.
var inAddress = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// formsOf returns the forms in which a text may hold a value.
func formsOf(value string) []string {
	forms := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	forms = append(forms, value, url.QueryEscape(value), inAddress.Replace(url.QueryEscape(value)), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
		hex.EncodeToString([]byte(value)))
	// In JSON, in JSON inside a JSON text, and as console shows a text inside a value.
	inJSON := quotedJSON(value)
	shown := strings.ReplaceAll(inJSON, `\"`, `"`)
	return append(forms, inJSON, quotedJSON(inJSON), shown, strings.ReplaceAll(shown, "'", `\'`))
}

// quotedJSON returns the text between the quotes of a string in JSON.
func quotedJSON(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // writing a text to memory cannot fail
	return strings.TrimSuffix(b.String()[1:], "\"\n")
}

// MaskLine returns a console line of a Worker without its secrets.
func MaskLine(mask *strings.Replacer, l pagesruntime.Line) pagesruntime.Line {
	l.Text = mask.Replace(l.Text)
	if args := []byte(mask.Replace(string(l.Args))); len(args) == 0 || json.Valid(args) {
		l.Args = args
	} else {
		l.Args = nil // a secret that looks like JSON itself
	}
	return l
}

// MaskError returns a Worker's error without its secrets, and any other error unchanged.
func MaskError(mask *strings.Replacer, err error) error {
	if f, ok := errors.AsType[*pagesruntime.Error](err); ok {
		return MaskFailure(mask, f)
	}
	return err
}

// MaskFailure returns a failure of a Worker without its secrets.
func MaskFailure(mask *strings.Replacer, f *pagesruntime.Error) *pagesruntime.Error {
	masked := *f
	masked.Name, masked.Message = mask.Replace(f.Name), mask.Replace(f.Message)
	masked.Causes = slices.Clone(f.Causes)
	for i := range masked.Causes {
		masked.Causes[i].Text = mask.Replace(masked.Causes[i].Text)
	}
	return &masked
}
