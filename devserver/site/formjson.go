package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// json reads one object whose keys are the fields. Every value is kept as it is, but for what no text can
// hold: bytes that are not UTF-8 and escapes of half a character, which become U+FFFD.
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
		if err := f.addJSON(each); err != nil {
			return err
		}
	}
	return nil
}

func (f *formReader) addJSON(each Field) error {
	if isReservedField(each.Name) {
		var value string
		if err := json.Unmarshal(each.Value, &value); err != nil {
			return refuse(http.StatusBadRequest, "form_malformed", "\""+each.Name+"\" is no text")
		}
		return f.add(each.Name, value)
	}
	value := jsontext.Value(each.Value)
	if err := value.Format(jsontext.AllowInvalidUTF8(true)); err != nil {
		return errJSONObject
	}
	each.Value = json.RawMessage(value)
	if err := checkField(each.Name, len(each.text())); err != nil {
		return err
	}
	return f.addRaw(each.Name, each.Value)
}

var (
	errJSONObject = refuse(http.StatusBadRequest, "form_malformed", "the body is no JSON object")
	errJSONDeep   = refuse(http.StatusBadRequest, "form_malformed", "the JSON is nested more than 64 deep")
)

// checkJSON walks a document: one value and nothing after it, no key twice, not too deep.
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
