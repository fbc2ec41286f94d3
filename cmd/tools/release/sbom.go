package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The bill of materials is a document of SPDX 2.3: the Go modules in the linker's build information, and the npm packages
// of the embedded artifacts.

type spdxDocument struct {
	Version       string             `json:"spdxVersion"`
	License       string             `json:"dataLicense"`
	ID            string             `json:"SPDXID"`
	Name          string             `json:"name"`
	Namespace     string             `json:"documentNamespace"`
	Creation      spdxCreation       `json:"creationInfo"`
	Packages      []spdxPackage      `json:"packages"`
	Relationships []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID       string         `json:"SPDXID"`
	Name     string         `json:"name"`
	Version  string         `json:"versionInfo"`
	Download string         `json:"downloadLocation"`
	Analyzed bool           `json:"filesAnalyzed"`
	License  string         `json:"licenseConcluded"`
	Declared string         `json:"licenseDeclared"`
	Refs     []spdxExternal `json:"externalRefs,omitempty"`
}

type spdxExternal struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	rootID  = "SPDXRef-pages"
	unknown = "NOASSERTION"
)

// materials writes the bill.
func (r *release) materials(program []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	list := []spdxPackage{
		material("pages", r.version, "pkg:golang/"+info.Main.Path+"@"+r.version, "MIT"),
		material("go", goVersion, "pkg:golang/std@"+goVersion, "BSD-3-Clause"),
	}
	list[0].ID = rootID
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, material(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version, unknown))
	}
	npm, err := npmMaterials()
	if err != nil {
		return err
	}
	list = append(list, npm...)
	slices.SortFunc(list[1:], func(a, b spdxPackage) int { return strings.Compare(a.ID, b.ID) })
	list = slices.CompactFunc(list, func(a, b spdxPackage) bool { return a.ID == b.ID })
	doc := spdxDocument{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "pages-" + r.version,
		Namespace: fmt.Sprintf("https://github.com/pages-toolchain/pages/spdx/%s-%x", r.version, sha256.Sum256(program)),
		Creation:  spdxCreation{Created: r.time.Format("2006-01-02T15:04:05Z"), Creators: []string{"Tool: pages-release"}},
		Packages:  list, Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", rootID}},
	}
	for _, p := range list[1:] {
		doc.Relationships = append(doc.Relationships, spdxRelationship{rootID, "CONTAINS", p.ID})
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("pages-%s.spdx.json", r.version), append(text, '\n'))
}

var notInID = regexp.MustCompile(`[^0-9A-Za-z.-]+`)

func material(name, version, locator, license string) spdxPackage {
	return spdxPackage{
		ID: "SPDXRef-" + notInID.ReplaceAllString(name+"-"+version, "-"), Name: name, Version: version,
		Download: unknown, License: unknown, Declared: license,
		Refs: []spdxExternal{{"PACKAGE-MANAGER", "purl", locator}},
	}
}

// embeddedLicenses are the licences of packages that are embedded in part: here the data of ICU. NOTICES has more.
var embeddedLicenses = map[string]string{"@napi-rs/canvas-win32-x64-msvc": "Unicode-3.0"}

// npmMaterials are the packages that the lock files of the embedded artifacts name.
func npmMaterials() (list []spdxPackage, err error) {
	locks, err := filepath.Glob(filepath.Join("runtime", "*", "package-lock.json"))
	if err != nil {
		return nil, err
	}
	locks = append(locks, filepath.Join("runtime", "intl", "dictionary", "package-lock.json"))
	for _, file := range locks {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var lock struct {
			Packages map[string]struct {
				Version string `json:"version"`
				License any    `json:"license"`
				Dev     bool   `json:"dev"`
			} `json:"packages"`
		}
		if err := json.Unmarshal(text, &lock); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for at, p := range lock.Packages {
			_, name, ok := strings.Cut(at, "node_modules/")
			if !ok || p.Dev || p.Version == "" {
				continue
			}
			license, ok := p.License.(string)
			if !ok || license == "" {
				license = unknown
			}
			if embedded, ok := embeddedLicenses[name]; ok {
				license = embedded
			}
			locator := "pkg:npm/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/") + "@" + p.Version
			list = append(list, material(name, p.Version, locator, license))
		}
	}
	return list, nil
}
