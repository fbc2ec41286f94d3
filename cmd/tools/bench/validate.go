package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

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
	// sampled is how many processes of ajv-cli stand for a thousand.
	sampled = 5
	// starts is how often the process for one manifest is started in a round.
	starts = 10
)

// ajvScript validates every file named in one process of Node.js and prints how
// many milliseconds that took, the start of the process not counted.
//
//go:embed validate.cjs
var ajvScript []byte

// validation is what the sides of `pages validate` are measured on.
type validation struct {
	*bench
	dir, pages, node, jq string
	files                []string
}

// measureValidate takes all rounds of the validators in dir.
func (b *bench) measureValidate(ctx context.Context, dir string) error {
	v := &validation{bench: b, dir: dir}
	var err error
	if v.pages, err = b.ourProgram(); err != nil {
		return err
	}
	if err := v.write(); err != nil {
		return err
	}
	v.findPeers()
	for round := range b.turns() {
		b.say("round %d of %d: validate", round+1, b.rounds)
		if err := v.turn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write makes the manifests, the schema and the script.
func (v *validation) write() error {
	err := os.MkdirAll(v.dir, 0o755)
	for i := range manifests {
		name := fmt.Sprintf("site-%04d.json", i)
		v.files = append(v.files, name)
		err = errors.Join(err, os.WriteFile(filepath.Join(v.dir, name), benchManifest(i), 0o600))
	}
	return errors.Join(err,
		os.WriteFile(filepath.Join(v.dir, "schema.json"), manifest.Schema(), 0o600),
		os.WriteFile(filepath.Join(v.dir, "validate.cjs"), ajvScript, 0o600))
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
	src, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		panic(err) // plain data
	}
	return src
}

// findPeers says which of them there are.
func (v *validation) findPeers() {
	var err error
	if v.jq, err = exec.LookPath(orElse(v.bench.jq, "jq")); err != nil {
		v.missing(jq, "there is none: give --jq")
	}
	if _, err = os.Stat(filepath.Join(v.ajv, "ajv-cli")); v.ajv == "" || err != nil {
		v.withoutAjv("give --ajv, a node_modules folder with ajv-cli, ajv and ajv-formats")
		return
	}
	if v.node, err = exec.LookPath(orElse(v.bench.node, "node")); err != nil {
		v.withoutAjv("there is no node: give --node")
	}
}

func (v *validation) withoutAjv(why string) {
	v.missing(ajv, "%s", why)
	v.missing(ajvCLI, "%s", why)
}

// turn measures every side once.
func (v *validation) turn(ctx context.Context) error {
	for range starts {
		if err := v.timed(ctx, us, oneManifest, 1, v.pages, "validate", "--manifest-only", v.files[0]); err != nil {
			return err
		}
		if v.jq == "" {
			continue
		}
		if err := v.timed(ctx, jq, oneManifest, 1, v.jq, ".", v.files[0]); err != nil {
			return err
		}
	}
	many := append([]string{v.pages, "validate", "--manifest-only"}, v.files...)
	if err := v.timed(ctx, us, manyAtOnce, 1, many...); err != nil {
		return err
	}
	all, one := v.results[us][manyAtOnce], median(v.results[us][oneManifest])
	v.results.add(us, perManifest, max(0, all[len(all)-1]-one)/(manifests-1))
	if v.node == "" {
		return nil
	}
	return v.turnAjv(ctx)
}

func (v *validation) turnAjv(ctx context.Context) error {
	modules, err := filepath.Abs(v.ajv)
	if err != nil {
		return err
	}
	began := v.now()
	out, err := v.output(ctx, append([]string{v.node, "validate.cjs", modules, "schema.json"}, v.files...)...)
	if err != nil {
		return err
	}
	v.results.add(ajv, manyAtOnce, milliseconds(v.now().Sub(began)))
	var spent float64
	if err := json.Unmarshal(out, &spent); err != nil {
		return fmt.Errorf("validate.cjs printed %.100q: %w", out, err)
	}
	v.results.add(ajv, perManifest, spent/manifests)
	for _, file := range v.files[:sampled] {
		err := v.timed(ctx, ajvCLI, manyManifests, manifests, v.node, filepath.Join(modules, "ajv-cli", "dist", "index.js"),
			"validate", "--strict=false", "-c", filepath.Join(modules, "ajv-formats"), "-s", "schema.json", "-d", file)
		if err != nil {
			return err
		}
	}
	return nil
}

// timed runs a process to its end and adds its time, so many times over.
func (v *validation) timed(ctx context.Context, side string, m measure, times float64, args ...string) error {
	began := v.now()
	_, err := v.output(ctx, args...)
	v.results.add(side, m, times*milliseconds(v.now().Sub(began)))
	return err
}

func (v *validation) output(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = v.dir, v.environ
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.500s%.500s", args[0], err, stderr.Bytes(), out)
	}
	return out, nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
