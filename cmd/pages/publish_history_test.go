//go:build unix

package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pages-toolchain/pages/toolapi"
)

// The history of a site has two registers: the pointer in the API, and the revision that visitors get. Each changes at one moment between
// the call of a publish and its response, the second a moment after the first.
const (
	atPointer = iota
	atVisitors
	registerCount
)

// publishOp is an operation on a register: a write of a revision, or a read.
type publishOp struct {
	register int
	write    string
}

// opOf returns an operation of a history, which contains nothing else.
func opOf(input any) (op publishOp) {
	op, _ = input.(publishOp)
	return op
}

// register is one live revision.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, registerCount)
		for _, o := range history {
			n := opOf(o.Input).register
			parts[n] = append(parts[n], o)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		if op := opOf(input); op.write != "" {
			return true, op.write
		}
		return output == state, state
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " ", output) },
}

// historian records the observations of several clients of one site.
type historian struct {
	*testing.T

	page  *pageLedger
	began time.Time

	mu      sync.Mutex
	history []porcupine.Operation
	writes  int // acknowledged
}

// record records an operation that began at a time and has ended now or, without a response, never.
func (h *historian) record(client int, op publishOp, began time.Duration, output string, answered bool) {
	o := porcupine.Operation{
		ClientId: client, Input: op, Call: began.Nanoseconds(), Output: output,
		Return: time.Since(h.began).Nanoseconds(),
	}
	if !answered {
		o.Return = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history = append(h.history, o)
	if op.write != "" && answered {
		h.writes++
	}
}

// client publishes, rolls back and reads until the service is gone, or up to a number of times.
func (h *historian) client(n, times int, p *platformRun, shown []string) {
	for range times {
		began := time.Since(h.began)
		switch rand.IntN(4) { //nolint:gosec // a choice
		case 0, 1:
			tool, revision := []string{"page.publish", "page.rollback"}[rand.IntN(2)],
				shown[rand.IntN(len(shown))] //nolint:gosec // a choice
			o, err := p.goLive(tool, h.page.site, revision, false)
			switch {
			case err == nil && o.Code == toolapi.CodeRevisionLive: // read the pointer
				h.record(n, publishOp{register: atPointer}, began, revision, true)
				continue
			case err == nil && o.Code == toolapi.CodeConfirmationStale: // another client was quicker
				continue
			case err == nil && !o.OK:
				h.Errorf("%s %s: %+v", tool, revision, o)
				return
			}
			for register := range registerCount {
				h.record(n, publishOp{register, revision}, began, "", err == nil)
			}
			if err != nil {
				return
			}
		case 2:
			live, err := p.pageOf(h.page.site)
			if err != nil {
				return
			}
			h.record(n, publishOp{register: atPointer}, began, live.Live, true)
		case 3:
			v, err := p.tryRequest("GET", h.page.host, "/a.txt", "")
			if err != nil {
				return
			}
			mark, _, _ := strings.Cut(v.body, " ")
			h.record(n, publishOp{register: atVisitors}, began, mark, true)
		}
	}
}

// TestPublishHistory: the history of publishes, rollbacks and reads by several clients, with kills of the service in between, is that of
// one register.
func TestPublishHistory(t *testing.T) {
	const clients = 8
	kills, times := soakRounds(2, 10), soakRounds(25, 150)
	data := t.TempDir()
	p := startPlatform(t, data)
	h := &historian{T: t, page: p.newPageLedger(t, "History"), began: time.Now()}
	var shown []string
	marks := map[string]string{}
	for n := range 4 {
		mark := fmt.Sprint("mark-", n)
		revision := p.ship(t, h.page.site, markedManifest, markedFiles(mark))
		shown, marks[revision] = append(shown, revision), mark
	}
	for register := range registerCount {
		h.record(0, publishOp{register, shown[len(shown)-1]}, 0, "", true)
	}
	for round := range kills {
		var all sync.WaitGroup
		for n := range clients {
			all.Go(func() { h.client(n, times, p, shown) })
		}
		if round < kills-1 {
			<-time.After(time.Duration(100+rand.IntN(400)) * time.Millisecond) //nolint:gosec // a choice
			p.end(t, os.Kill)
			all.Wait()
			p = startPlatform(t, data)
		}
		all.Wait()
	}
	for i, o := range h.history { // a visitor sees marks, and publishers name revisions
		if op := opOf(o.Input); op.register == atVisitors && op.write != "" {
			h.history[i].Input = publishOp{atVisitors, marks[op.write]}
		}
	}
	t.Logf("%d operations, %d of them writes that were acknowledged, %d kills", len(h.history), h.writes/registerCount, kills-1)
	if result, info := porcupine.CheckOperationsVerbose(register, h.history, 5*time.Minute); result != porcupine.Ok {
		var picture strings.Builder
		if err := porcupine.Visualize(register, info, &picture); err != nil {
			t.Error(err)
		}
		file := t.ArtifactDir() + "/history.html"
		if err := os.WriteFile(file, []byte(picture.String()), 0o600); err != nil {
			t.Error(err)
		}
		slices.SortFunc(h.history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		for _, o := range h.history {
			t.Logf("%v to %v: client %d %v %v", time.Duration(o.Call), time.Duration(o.Return), o.ClientId, o.Input, o.Output)
		}
		t.Errorf("the history is %s: see %s", result, file)
	}
}
