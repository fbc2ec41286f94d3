package editor

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/manifest"
)

const jetbrainsSchema = ".idea/pages.schema.json"

// jetbrainsEntry is what the IDEs write for a mapping of a file name, wherever
// the file is, under "JSON Schema Mappings".
const jetbrainsEntry = `<entry key="` + manifest.FileName + `">
  <value>
    <SchemaInfo>
      <option name="name" value="` + manifest.FileName + `" />
      <option name="relativePathToSchema" value="` + jetbrainsSchema + `" />
      <option name="schemaVersion" value="JSON Schema version 7" />
      <option name="patterns">
        <list>
          <Item>
            <option name="pattern" value="true" />
            <option name="path" value="` + manifest.FileName + `" />
            <option name="mappingKind" value="Pattern" />
          </Item>
        </list>
      </option>
    </SchemaInfo>
  </value>
</entry>`

// jetbrainsWay is the elements around the entries, from the root.
func jetbrainsWay() []xmlStep {
	return []xmlStep{
		{"project", "version", "4"},
		{"component", "name", "JsonSchemaMappingsProjectConfiguration"},
		{tag: "state"},
		{tag: "map"},
	}
}

// editJetBrains is for .idea/jsonSchemas.xml.
func editJetBrains(src []byte) ([]byte, error) {
	way := jetbrainsWay()
	if len(bytes.TrimSpace(src)) == 0 {
		// The IDEs end their files without a line end.
		return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + wrapEntry(way)), nil
	}
	root, err := parseXML(src)
	if err != nil {
		return nil, err
	}
	if root.tag != way[0].tag {
		return nil, &SettingsError{
			Offset: root.start, Code: CodeShape, Msg: fmt.Sprintf("the file holds a <%s> where the editor takes a <project>", root.tag),
			Fix: "remove the file, then run this again; nothing was written",
		}
	}
	at := root
	for i, step := range way[1:] {
		next := at.child(step)
		if next == nil {
			return at.append(src, wrapEntry(way[i+1:])), nil
		}
		at = next
	}
	if found, err := findEntry(at); found || err != nil {
		return src, err
	}
	return at.append(src, jetbrainsEntry), nil
}

// findEntry looks for the mapping among the entries.
func findEntry(entries *xmlNode) (found bool, err error) {
	for _, entry := range entries.children {
		info := entry.child(xmlStep{tag: "value"}).child(xmlStep{tag: "SchemaInfo"})
		mapped := mapsManifest(info)
		url := info.option("relativePathToSchema")
		switch {
		case mapped && url == jetbrainsSchema:
			return true, nil
		case err != nil:
		case mapped || entry.attrs["key"] == manifest.FileName:
			err = takenError(entry.start, url, jetbrainsSchema)
		}
	}
	return false, err
}

// mapsManifest reports whether a mapping is for the manifest's name in every
// folder.
func mapsManifest(info *xmlNode) bool {
	for _, item := range info.child(xmlStep{"option", "name", "patterns"}).child(xmlStep{tag: "list"}).all() {
		pattern := item.option("mappingKind") == "Pattern" || item.option("pattern") == "true"
		if pattern && isManifestPattern(item.option("path")) {
			return true
		}
	}
	return false
}

// wrapEntry is the entry in the elements that are missing around it.
func wrapEntry(steps []xmlStep) string {
	text := jetbrainsEntry
	for _, step := range slices.Backward(steps) {
		open := step.tag
		if step.attr != "" {
			open += fmt.Sprintf(" %s=%q", step.attr, step.value)
		}
		text = "<" + open + ">\n" + indent(text, xmlUnit) + "\n</" + step.tag + ">"
	}
	return text
}
