package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// json reads one object whose keys are the fields. Every value is kept as it is.
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
	if reserved(each.Name) {
		var value string
		if err := json.Unmarshal(each.Value, &value); err != nil {
			return refuse(http.StatusBadRequest, "form_malformed", "\""+each.Name+"\" is no text")
		}
		return f.add(each.Name, value)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, each.Value); err != nil {
		return errJSONObject
	}
	each.Value = compact.Bytes()
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
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := checkValue(d, 0); err != nil {
		if _, ok := errors.AsType[*RefusalError](err); ok {
			return err
		}
		return errJSONObject
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errJSONObject
	}
	return nil
}

func checkValue(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	if depth++; depth > maxJSONDepth {
		return errJSONDeep
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			if err := checkKey(d, seen); err != nil {
				return err
			}
		}
		if err := checkValue(d, depth); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func checkKey(d *json.Decoder, seen map[string]bool) error {
	key, err := nextKey(d)
	if err != nil {
		return err
	}
	if seen[key] {
		return errFieldTwice
	}
	seen[key] = true
	return nil
}
