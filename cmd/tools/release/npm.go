package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pages-toolchain/pages/npm"
)

// launcherName is the npm package that people install. It has one optional package per platform; npm installs the matching
// one.
const launcherName = "pages-toolchain"

// npmPackage is a package.json.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Repository  string            `json:"repository"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Exports     json.RawMessage   `json:"exports,omitempty"`
	Files       []string          `json:"files,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
}

// npmName returns the package of a platform, with Node's names of its system and processor.
func npmName(p platform) (name, system, cpu string) {
	system = strings.ReplaceAll(p.os, "windows", "win32")
	cpu = strings.ReplaceAll(p.arch, "amd64", "x64")
	return fmt.Sprintf("@%s/%s-%s", launcherName, system, cpu), system, cpu
}

func (r *release) npmDescription(of string) npmPackage {
	return npmPackage{
		Name: of, Version: r.version, Description: "Build, run and publish sites of the Workspace platform",
		License: "MIT", Repository: "github:pages-toolchain/pages",
	}
}

// npmBinary writes the package of one platform, with the licences of the embedded parts.
func (r *release) npmBinary(p platform, program []byte, extras []entry) error {
	name, system, cpu := npmName(p)
	about := r.npmDescription(name)
	about.OS, about.CPU = []string{system}, []string{cpu}
	files := []entry{{"package/" + p.binary(), program, 0o755}}
	for _, e := range extras {
		if e.name == noticesName {
			files = append(files, entry{"package/" + e.name, e.text, e.mode})
		}
	}
	return r.npmPack(about, files)
}

// launcher writes the package with the launcher and the bindings for Node.js.
func (r *release) launcher(built []platform) error {
	about := r.npmDescription(launcherName)
	manifest, err := fs.ReadFile(npm.Files, "package.json")
	if err == nil {
		err = json.Unmarshal(manifest, &about)
	}
	if err != nil {
		return err
	}
	about.Optional = map[string]string{}
	for _, p := range built {
		name, _, _ := npmName(p)
		about.Optional[name] = r.version
	}
	names, err := fs.Glob(npm.Files, "*")
	if err != nil {
		return err
	}
	var files []entry
	for _, name := range names {
		if name == "package.json" {
			continue
		}
		text, err := fs.ReadFile(npm.Files, name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if name == about.Bin["pages"] {
			mode = 0o755
		}
		files = append(files, entry{"package/" + name, text, mode})
	}
	return r.npmPack(about, files)
}

// npmPack writes a package in the format of npm pack: everything in a folder "package".
func (r *release) npmPack(about npmPackage, files []entry) error {
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, entry{"package/package.json", append(text, '\n'), 0o644})
	packed, err := tarball(files, r.time)
	if err != nil {
		return err
	}
	name := strings.NewReplacer("@", "", "/", "-").Replace(about.Name)
	return r.write(fmt.Sprintf("%s-%s.tgz", name, r.version), packed)
}
