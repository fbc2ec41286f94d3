package htmlrewriter

import "github.com/pages-toolchain/pages/runtime/engine"

// This file refuses documents in which a parser that reads as they come cannot
// tell text from markup, as the platform does: in a select and in a frameset,
// a tag that text follows may be one to ignore.

// ambiguity follows the tags of a document.
type ambiguity struct {
	place     ambiguousPlace
	templates int // that are open within the select
}

type ambiguousPlace uint8

const (
	placeClear ambiguousPlace = iota
	placeSelect
	placeTemplate // within a select
	placeFrameset // or after one
)

// start follows a start tag, or refuses it.
func (a *ambiguity) start(name string) error {
	switch a.place {
	case placeClear:
		switch name {
		case "select":
			a.place = placeSelect
		case "frameset":
			a.place = placeFrameset
		}
		return nil
	case placeSelect:
		switch name {
		case "select", "textarea", "input", "keygen": // each ends it
			a.place = placeClear
			return nil
		case "template":
			a.place, a.templates = placeTemplate, 1
			return nil
		case "script":
			return nil
		}
	case placeTemplate:
		if name == "template" {
			a.templates++
		}
	case placeFrameset:
		if name == "noframes" {
			return nil
		}
	}
	if textIn(name) == modeData {
		return nil
	}
	return engine.TypeError(
		"Parser error: The parser has encountered a text content tag (`<%s>`) in the context where it is ambiguous "+
			"whether this tag should be ignored or not: in a select, or with a frameset. It is unclear whether what "+
			"follows is text or markup.",
		name,
	)
}

// end follows an end tag.
func (a *ambiguity) end(name string) {
	switch {
	case a.place == placeSelect && name == "select":
		a.place = placeClear
	case a.place == placeTemplate && name == "template":
		if a.templates--; a.templates == 0 {
			a.place = placeSelect
		}
	}
}
