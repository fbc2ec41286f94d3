package site

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// TestReadingsOfTheOtherFront compares the front door of `pages build --target cloudflare`, in JavaScript, with this one: both refuse the
// same paths, look up the same ones, and judge the same readings.
func TestReadingsOfTheOtherFront(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		testmachine.Lacks(t, "Node.js", err)
	}
	pieces := []string{
		"/", "/", "//", "a", "b", "club", "%2F", "%2f", "%5C", "%25", "%2525", "%252F",
		".", "..", "%2e", "%2E%2e", "..;v=1", ";", "%3F",
		"%23", "%20", " ", "%00", "%zz", "%", "é", "%C3%A9", "%C3",
		"e%CC%81", "%EF%BC%8F", "%E2%81%84", "%E2%80%8B", "%E2%80%A5", "__pages", "::x", "A",
		"\\", "#", "~", "'", "{", "%7B", "100%25", "%25C3%25A9", "%25E9", "https:",
	}
	random := rand.New(rand.NewPCG(3, 4))
	paths := []string{"/", "/a%2Fb", "/@scope%2Fpkg", "/proxy/https://x.example/y", "/search/100%25", "/x/%2e%2e%2fclub", "//club/a"}
	for range 2500 {
		path := "/"
		for range 1 + random.IntN(7) {
			path += pieces[random.IntN(len(pieces))]
		}
		paths = append(paths, path)
	}
	type verdict struct {
		Fault         bool
		Decoded, File string
		Readings      []string
	}
	const program = `import { canonical } from "./readings.js";
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map((path) => {
  const { fault, decoded, file, readings } = canonical(path);
  return fault ? { Fault: true } : { Decoded: decoded, File: file, Readings: readings ?? null };
})));`
	input, err := json.Marshal(paths)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", program)
	cmd.Dir, cmd.Stdin, cmd.Stderr = "../../bundler/cloudflare/front", bytes.NewReader(input), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []verdict
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(paths) {
		t.Fatal(err, len(answers))
	}
	faults, several := 0, 0
	for i, path := range paths {
		p, err := Canonical(path)
		got := answers[i]
		if (err != nil) != got.Fault {
			t.Errorf("%q: here %v, there %+v", path, err, got)
			continue
		}
		if err != nil {
			faults++
			continue
		}
		if p.decoded != got.Decoded || p.file != got.File || (p.readings == nil) != (got.Readings == nil) {
			t.Errorf("%q: here %q, file %q, %d readings, there %+v", path, p.decoded, p.file, len(p.readings), got)
		}
		if p.readings != nil {
			several++
		}
		if here, there := foldAll(p.readings), foldAll(got.Readings); !slices.Equal(here, there) {
			t.Errorf("%q is read here as\n%q, there as\n%q", path, here, there)
		}
	}
	if faults < 300 || several < 300 || len(paths)-faults-several < 100 {
		t.Errorf("the cases are too much alike: %d faults, %d with several readings, of %d", faults, several, len(paths))
	}
}

// invalid are bytes that are not UTF-8, from which each program makes a different number of characters.
var invalid = regexp.MustCompile("\ufffd+")

// foldAll returns readings in the form that the gate compares, sorted, without duplicates.
func foldAll(readings []string) (all []string) {
	for _, reading := range readings {
		all = append(all, sitepath.FoldPath(invalid.ReplaceAllString(string([]rune(reading)), "\ufffd")))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
