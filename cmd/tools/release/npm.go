package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// launcherName is the npm package that people install. It has one optional package per platform, of which npm installs the
// one that fits.
const launcherName = "pages-toolchain"

//go:embed npm/launch.js
var launchJS []byte

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

// npmBinary writes the package of one platform, with the licences of what the program embeds.
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

// launcher writes the package that finds the program of the machine it is on.
func (r *release) launcher(built []platform) error {
	about := r.npmDescription(launcherName)
	about.Bin = map[string]string{"pages": "launch.js"}
	about.Engines = map[string]string{"node": ">=18"}
	about.Optional = map[string]string{}
	for _, p := range built {
		name, _, _ := npmName(p)
		about.Optional[name] = r.version
	}
	return r.npmPack(about, []entry{{"package/launch.js", launchJS, 0o755}})
}

// npmPack writes a package as npm pack does: everything in a folder "package".
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
