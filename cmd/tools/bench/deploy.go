package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The measures of `pages deploy` against a service on the same disk.
const (
	deployFirst    measure = "first deploy of 10,000 files, 200 MB"
	deployAgain    measure = "deploy with one file changed"
	deployPlan     measure = "plan of 20,000 unchanged files"
	deployClient   measure = "memory of a deploy of 20,000 files"
	deployPlatform measure = "memory of the service meanwhile"
)

// Peers of `pages deploy`.
const (
	copying     = "copy into a content store, fsync"
	firstDeploy = "the first deploy"
	sha256Sums  = "sha256sum"
	theBound    = "150 MB"
)

var deployPromises = []promise{
	{deployFirst, copying, deployFirst, "ms", false, 1. / 2},
	{deployAgain, firstDeploy, deployFirst, "ms", false, 20},
	{deployPlan, sha256Sums, deployPlan, "ms", false, 1 / 1.5},
	{deployClient, theBound, deployClient, "MiB", false, 1},
	{deployPlatform, theBound, deployPlatform, "MiB", false, 1},
}

const (
	deployFiles    = 10_000
	deployFileSize = 20_000
	planFiles      = 20_000
	planFileSize   = 10_000
	storeWorkers   = 8 // files that are copied at once: as many as a deploy sends
	boundBytes     = 150e6
)

// measureDeploy takes all rounds of deploys in dir.
func (b *bench) measureDeploy(ctx context.Context, dir string) {
	d := &deploying{bench: b, pages: b.ourProgram(), dir: dir}
	many, large := filepath.Join(dir, "many"), filepath.Join(dir, "files")
	writeStatic(many, planFiles, planFileSize)
	writeStatic(large, deployFiles, deployFileSize)
	for round := range b.turns() {
		b.say("round %d of %d: deploy", round+1, b.rounds)
		d.first(ctx, large, round)
		d.plan(ctx, many, round)
	}
}

// writeStatic makes a site of n files with unique bytes.
func writeStatic(dir string, n, size int) {
	writeFiles(dir, map[string]string{"pages.deploy.json": `{"assets": "public"}`})
	random := rand.NewChaCha8([32]byte{1})
	raw := make([]byte, size/2)
	for i := range n {
		_, _ = random.Read(raw) // never fails
		name := fmt.Sprintf("public/d%03d/f%05d.txt", i/100, i)
		writeFiles(dir, map[string]string{name: hex.EncodeToString(raw)})
	}
}

// deploying runs `pages deploy` against a service that it starts.
type deploying struct {
	*bench

	pages, dir string
	service    *process
	url, key   string
	second     string // another key, with calls of its own
}

// serve starts a service with a data folder, and creates a missing one.
func (d *deploying) serve(ctx context.Context, data string) {
	d.service = must(startProcess([]string{
		d.pages, "platform", "--seed", "demo", "--json", "--quiet", "--rate-limit", "1000000", "--port", freePort(ctx), "--data", data,
	}, "", append(slices.Clone(d.environ), "HOME="+d.dir)))
	var ready struct {
		URL  string            `json:"url"`
		Keys map[string]string `json:"keys"`
	}
	line, err := d.service.line(ctx, "{")
	if err == nil {
		err = json.Unmarshal([]byte(line), &ready)
	}
	if err != nil {
		d.service.stop()
		check(fmt.Errorf("pages platform: %w", err))
	}
	d.url, d.key, d.second = ready.URL, ready.Keys["member"], ready.Keys["stored"]
}

// ran is a finished command of pages.
type ran struct {
	took time.Duration
	peak int64 // the most memory it had, in bytes
	out  string
}

// run runs one of our commands on a site to its end, and checks its exit code and a text in its output.
func (d *deploying) run(ctx context.Context, site string, due int, want string, args ...string) ran {
	cmd := exec.CommandContext(ctx, d.pages, args...)
	cmd.Dir = site
	cmd.Env = append(slices.Clone(d.environ), "HOME="+d.dir, "XDG_CONFIG_HOME="+d.dir, "PAGES_BASE_URL="+d.url,
		"PAGES_API_KEY="+d.key, "PAGES_SITE=Open studio", "NO_COLOR=1")
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	began := d.now()
	check(cmd.Start())
	memory := watchMemory(cmd.Process.Pid)
	_ = cmd.Wait() // the exit code tells
	r := ran{d.now().Sub(began), memory.end(), text.String()}
	if code := cmd.ProcessState.ExitCode(); code != due || !strings.Contains(r.out, want) {
		check(fmt.Errorf("pages %s: exit code %d: %s", strings.Join(args, " "), code, r.out))
	}
	return r
}

// waits is the exit code of a deploy that waits for its confirmation.
const waits = 4

// first deploys to an empty service, changes one file and deploys again; the peer copies the same files.
func (d *deploying) first(ctx context.Context, site string, round int) {
	d.serve(ctx, filepath.Join(d.dir, fmt.Sprint("data-first-", round)))
	defer d.service.stop()
	r := d.run(ctx, site, waits, fmt.Sprintf("sent %d files", deployFiles+round), "deploy", "--propose-only")
	d.results.add(us, deployFirst, milliseconds(r.took))
	d.results.add(firstDeploy, deployFirst, milliseconds(r.took))
	writeFiles(site, map[string]string{fmt.Sprintf("public/changed-%d.txt", round): fmt.Sprint("only in round ", round)})
	r = d.run(ctx, site, waits, "sent 1 file ", "deploy", "--propose-only")
	d.results.add(us, deployAgain, milliseconds(r.took))
	began := d.now()
	check(copyIntoStore(filepath.Join(site, "public"), filepath.Join(d.dir, fmt.Sprint("store-", round))))
	d.addTime(copying, deployFirst, began)
}

var confirmation = regexp.MustCompile(`pages confirm ([0-9a-f-]+)`)

// plan publishes a site and plans it again; the peer hashes its files.
func (d *deploying) plan(ctx context.Context, site string, round int) {
	d.serve(ctx, filepath.Join(d.dir, fmt.Sprint("data-plan-", round)))
	defer d.service.stop()
	memory := watchMemory(d.service.cmd.Process.Pid)
	var r ran
	err := try(func() { r = d.run(ctx, site, waits, "", "deploy", "--propose-only", "--force") })
	served := memory.end()
	check(err)
	d.results.add(us, deployClient, float64(r.peak)/mebibyte)
	d.results.add(us, deployPlatform, float64(served)/mebibyte)
	for _, m := range []measure{deployClient, deployPlatform} {
		d.results.add(theBound, m, boundBytes/mebibyte)
	}
	id := confirmation.FindStringSubmatch(r.out)
	if id == nil {
		check(errors.New("a deploy printed no line that confirms"))
	}
	d.run(ctx, site, 0, "is live", "confirm", id[1])
	r = d.run(ctx, site, 0, "no changes", "deploy", "--plan")
	d.results.add(us, deployPlan, milliseconds(r.took))
	if _, err := exec.LookPath("sha256sum"); err != nil {
		d.noteMissing(sha256Sums, "there is none in PATH")
		return
	}
	d.timeCommand(ctx, sha256Sums, deployPlan, 1, site, "sh", "-c", "find public -type f -print0 | xargs -0 sha256sum")
}

// copyIntoStore copies files under their hashes, each synced before it has its name, and each folder after its last.
func copyIntoStore(from, to string) error {
	var files []string
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	err = errors.Join(err, atOnce(storeWorkers, func(i int) error {
		for at := i; at < len(files); at += storeWorkers {
			if err := storeFile(files[at], to); err != nil {
				return err
			}
		}
		return nil
	}))
	folders, _ := filepath.Glob(filepath.Join(to, "*"))
	for _, folder := range folders {
		err = errors.Join(err, syncFile(folder, os.O_RDONLY))
	}
	return err
}

func storeFile(file, store string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	name := hex.EncodeToString(sum[:])
	folder := filepath.Join(store, name[:2])
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close(), os.Rename(f.Name(), filepath.Join(folder, name[2:])))
}
