//go:build unix

package main

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// publishLoad has publishers and visitors of some sites.
type publishLoad struct {
	pages []*pageLedger
	seen  atomic.Int64 // visits
}

// startLedgers creates the sites.
func startLedgers(t *testing.T, p *platformRun, names ...string) *publishLoad {
	t.Helper()
	load := &publishLoad{}
	for _, name := range names {
		load.pages = append(load.pages, p.newPageLedger(t, name))
	}
	return load
}

func (l *publishLoad) acks() (n int) {
	for _, page := range l.pages {
		n += page.count()
	}
	return n
}

// run publishes and visits until the service is gone, and calls enough after this number of further acknowledgements.
func (l *publishLoad) run(t *testing.T, p *platformRun, count int, enough func()) {
	var publishers, visitors sync.WaitGroup
	var once sync.Once
	count += l.acks()
	for _, page := range l.pages {
		page.powerless = false
		publishers.Go(func() {
			page.publisher(t, p, func() {
				if l.acks() >= count {
					once.Do(enough)
				}
			})
		})
		visitors.Go(func() { l.seen.Add(int64(page.readUntilGone(t, p))) })
	}
	publishers.Wait()
	once.Do(enough) // they failed
	visitors.Wait()
}

func (l *publishLoad) check(t *testing.T, p *platformRun, data string) {
	t.Helper()
	for _, page := range l.pages {
		page.check(t, p, data)
	}
	if left := leftovers(t, data); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// soakRounds is the number of rounds of a loop: in an ordinary run, and with PAGES_SOAK.
func soakRounds(ordinary, soak int) int {
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		return soak
	case testing.Short():
		return 2
	}
	return ordinary
}

// TestPublishKilled kills the service at random while sites are uploaded, imported, published, rolled back and visited, and in every other
// round also `pages deploy` and `pages confirm`, one of which is killed first. Acknowledged changes stay, no change is there twice, the
// site serves one complete revision, and an interrupted request succeeds when the client repeats it.
func TestPublishKilled(t *testing.T) {
	rounds := soakRounds(10, 60)
	data := t.TempDir()
	p := startPlatform(t, data)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	load := startLedgers(t, p, "Kill one", "Kill two")
	deploys := &deployer{publisher: publisher{t, "", t.TempDir(), p.URL, p.Keys["member"]}, page: p.newPageLedger(t, "Kill three")}
	for round := range rounds {
		deploys.finish(p) // before the check of data: a running upload has a temporary file there
		load.check(t, p, data)
		deploys.again(round)
		load.run(t, p, 2+rand.IntN(16), func() { //nolint:gosec // a choice
			if round%4 == 0 {
				deploys.cut()
			}
			<-time.After(time.Duration(rand.IntN(20)) * time.Millisecond) //nolint:gosec // a choice
			if err := p.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		})
		p.end(t, os.Kill)
		p = startPlatform(t, data, "--port", port)
	}
	deploys.finish(p)
	load.check(t, p, data)
	p.end(t, os.Interrupt)
	for _, page := range load.pages {
		page.checkHistory(t, data)
	}
	t.Logf("%d acknowledged in %d rounds, %d visits, %d deploys killed", load.acks(), rounds, load.seen.Load(), deploys.killed)
}

// deployer deploys a site with commands, one folder after the other.
type deployer struct {
	publisher

	page    *pageLedger
	running *exec.Cmd
	said    *testmachine.Buffer
	out     *testmachine.Buffer
	dead    bool // the test killed it
	killed  int
}

// again starts another deploy in every other round.
func (d *deployer) again(round int) {
	d.Helper()
	if round%2 == 1 {
		return
	}
	d.dir = manyFiles(d.T, 10, round)
	d.running, d.out, d.said = d.command("deploy", "--propose-only", "--site", d.page.site, "--allow-public")
	if err := d.running.Start(); err != nil {
		d.Fatal(err)
	}
}

// cut kills the running deploy, at a random point.
func (d *deployer) cut() {
	<-time.After(time.Duration(rand.IntN(200)) * time.Millisecond) //nolint:gosec // a choice
	if d.running.Process.Kill() == nil {
		d.dead = true
		d.killed++
	}
}

// finish waits for the running deploy. Unless the test killed it, it must have outlasted the restart of the service and ended with a
// proposal. Then it deploys the same folder again, and confirms the proposal: first by a command that is killed.
func (d *deployer) finish(p *platformRun) {
	d.Helper()
	if d.running == nil {
		return
	}
	_ = d.running.Wait() // the exit code shows it
	if code := d.running.ProcessState.ExitCode(); code != failure.ExitPerson && !d.dead {
		d.Errorf("a deploy through a restart: exit code %d: %s%s", code, d.out, d.said)
	}
	d.running, d.dead = nil, false
	code, stdout, stderr := d.run("deploy", "--propose-only", "--site", d.page.site, "--allow-public", "--force")
	line := strings.Fields(stdout)
	if code != failure.ExitPerson || len(line) != 3 {
		d.Fatalf("a deploy begun again: exit code %d: %s%s", code, stdout, stderr)
	}
	first, _, _ := d.command("confirm", line[2])
	if err := first.Start(); err != nil {
		d.Fatal(err)
	}
	<-time.After(time.Duration(rand.IntN(60)) * time.Millisecond) //nolint:gosec // a choice
	if first.Process.Kill() == nil {
		d.killed++
	}
	_ = first.Wait() // killed
	if code, stdout, stderr := d.run("confirm", line[2]); code != 0 {
		d.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	served(d.T, p.URL, strings.Replace(p.URL, "127.0.0.1", d.page.host, 1), d.dir, "")
	if revisions := p.revisionsOf(d.T, d.page.site); p.liveOf(d.T, d.page.site) != revisions[0] {
		d.Errorf("%q are there, and the last is not live", revisions)
	}
}
