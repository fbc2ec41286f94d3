package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/manifest"
)

const (
	oneManifest   measure = "one manifest, a whole process"
	manyManifests measure = "1,000 manifests, a process each for the peer"
	manyAtOnce    measure = "1,000 manifests, one process"
	perManifest   measure = "one more manifest in a process"
)

// Peers of `pages validate`.
const (
	jq     = "jq"
	ajvCLI = "ajv-cli"
	ajv    = "ajv"
)

var validatePromises = []promise{
	{oneManifest, jq, oneManifest, "ms", false, 1.0 / 5},
	{manyAtOnce, ajvCLI, manyManifests, "ms", false, 20},
	{manyAtOnce, ajv, manyAtOnce, "ms", false, 1.0 / 3},
	{perManifest, ajv, perManifest, "ms", false, 1.0 / 3},
}

const (
	manifests = 1000
	// sampled is the number of processes of ajv-cli that represent a thousand.
	sampled = 5
	// starts is the number of starts for one manifest in a round.
	starts = 10
)

// ajvScript validates every file named in one process of Node.js and prints how
// many milliseconds that took, the start of the process not counted.
//
//go:embed validate.cjs
var ajvScript []byte

// validation holds the manifests and the programs that `pages validate` is measured with.
type validation struct {
	*bench
	dir, pages, node, jq string
	files                []string
}

// measureValidate takes all rounds of the validators in dir.
func (b *bench) measureValidate(ctx context.Context, dir string) {
	v := &validation{bench: b, dir: dir, pages: b.ourProgram()}
	writeFiles(dir, map[string]string{"schema.json": string(manifest.Schema()), "validate.cjs": string(ajvScript)})
	for i := range manifests {
		name := fmt.Sprintf("site-%04d.json", i)
		v.files = append(v.files, name)
		writeFiles(dir, map[string]string{name: string(benchManifest(i))})
	}
	v.findPeers()
	for round := range b.turns() {
		b.say("round %d of %d: validate", round+1, b.rounds)
		v.turn(ctx)
	}
}

// benchManifest is a valid manifest of about 2 kB with every field used.
func benchManifest(n int) []byte {
	m := manifest.Manifest{
		Entry: "src/worker.ts", Assets: "public",
		Bindings: manifest.Bindings{
			Database: &manifest.Database{Migrations: "migrations"}, ProjectDatabase: manifest.ProjectRead,
			Secrets: []string{"API_KEY", "MAIL_TOKEN"}, Submissions: "leads", Images: true,
			Storage: &manifest.Storage{Name: "FILES"}, KV: &manifest.KV{Name: "CACHE"},
		},
		Limits:  manifest.Limits{CPUMs: 12000, SubRequests: 30},
		Runtime: manifest.Runtime{CompatibilityFlags: []string{manifest.FlagNodeJS}, CompatibilityDate: "2099-01-01"},
	}
	for i := range 14 {
		m.Routes = append(m.Routes, manifest.Route{Pattern: fmt.Sprintf("/section-%d/%d/*", n, i), Access: manifest.Members})
		m.Bindings.Database.Tables = append(m.Bindings.Database.Tables, fmt.Sprintf("table_%d_%d", n, i))
	}
	for i := range 6 {
		m.Forms = append(m.Forms, manifest.Form{Name: fmt.Sprintf("form-%d", i), Event: fmt.Sprintf("custom.form_%d", i)})
	}
	return must(json.MarshalIndent(m, "", " "))
}

// findPeers looks for the peers.
func (v *validation) findPeers() {
	v.jq = v.find(jq, v.bench.jq, "jq")
	if _, err := os.Stat(filepath.Join(v.ajv, "ajv-cli")); v.ajv == "" || err != nil {
		for _, peer := range []string{ajv, ajvCLI} {
			v.noteMissing(peer, "pass --ajv, a node_modules folder with ajv-cli, ajv and ajv-formats")
		}
		return
	}
	if v.node = v.find(ajv, v.bench.node, "node"); v.node == "" {
		v.absent[ajvCLI] = v.absent[ajv]
	}
}

// turn measures every side once.
func (v *validation) turn(ctx context.Context) {
	for range starts {
		v.timeCommand(ctx, us, oneManifest, 1, v.dir, v.pages, "validate", "--manifest-only", v.files[0])
		if v.jq != "" {
			v.timeCommand(ctx, jq, oneManifest, 1, v.dir, v.jq, ".", v.files[0])
		}
	}
	v.timeCommand(ctx, us, manyAtOnce, 1, v.dir, append([]string{v.pages, "validate", "--manifest-only"}, v.files...)...)
	all, one := v.results[us][manyAtOnce], median(v.results[us][oneManifest])
	v.results.add(us, perManifest, max(0, all[len(all)-1]-one)/(manifests-1))
	if v.node == "" {
		return
	}
	modules := must(filepath.Abs(v.ajv))
	out := v.timeCommand(ctx, ajv, manyAtOnce, 1, v.dir, append([]string{v.node, "validate.cjs", modules, "schema.json"}, v.files...)...)
	var spent float64
	if err := json.Unmarshal(out, &spent); err != nil {
		check(fmt.Errorf("validate.cjs printed %.100q: %w", out, err))
	}
	v.results.add(ajv, perManifest, spent/manifests)
	for _, file := range v.files[:sampled] {
		v.timeCommand(ctx, ajvCLI, manyManifests, manifests, v.dir, v.node, filepath.Join(modules, "ajv-cli", "dist", "index.js"),
			"validate", "--strict=false", "-c", filepath.Join(modules, "ajv-formats"), "-s", "schema.json", "-d", file)
	}
}
