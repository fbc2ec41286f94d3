package service_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

const undo = "automations.undo_draft"

func (w *fixture) undo(key string) response {
	w.Helper()
	return w.call("member", undo, js("board_id", w.demo.IDs["board_id"]), "Idempotency-Key", key)
}

func (w *fixture) revision() string {
	w.Helper()
	return w.value("SELECT revision FROM boards WHERE id = ?", w.demo.IDs["board_id"])
}

func TestIdempotencyKeyPlaces(t *testing.T) {
	w := newFixture(t)
	board := w.demo.IDs["board_id"]
	if a := w.ok("member", undo, js("board_id", board), "Idempotency-Key", "header"); a.header.Get("Deprecation") != "" ||
		a.fields["replayed"] != false {
		t.Errorf("H-001 header: %v %s", a.header, a.body)
	}
	for name, header := range map[string][]string{"body": nil, "both": {"Idempotency-Key", "both"}} {
		a := w.ok("member", undo, js("board_id", board, "idempotency_key", name), header...)
		if a.header.Get("Deprecation") == "" || a.header.Get("Sunset") == "" ||
			!strings.Contains(a.header.Get("Link"), "#body-idempotency-key") {
			t.Errorf("H-001 %s: %v", name, a.header)
		}
	}
	before := w.snapshot("audit")
	w.refused(toolapi.CodeIdempotencyConflict, "member", undo, js("board_id", board, "idempotency_key", "a"), "Idempotency-Key", "b")
	for _, key := range []string{"", strings.Repeat("k", 201), "a b", "a\tb", "é"} {
		t.Run(fmt.Sprintf("%.20q", key), func(t *testing.T) {
			a := w.refused(toolapi.CodeIdempotencyInvalid, "member", undo, js("board_id", board), "Idempotency-Key", key)
			if a.status != 400 {
				t.Errorf("H-003 %q: %d", key, a.status)
			}
		})
	}
	w.refused(toolapi.CodeIdempotencyInvalid, "member", undo, js("board_id", board), "Idempotency-Key", "a", "Idempotency-Key", "a")
	if a := w.refused(
		toolapi.CodeInvalidArguments, "member", undo, js("board_id", board),
	); !strings.Contains(string(a.body), `"path":"idempotency_key"`) {
		t.Errorf("H-005: %s", a.body)
	}
	for _, key := range []string{"", strings.Repeat("k", 201)} {
		w.refused(toolapi.CodeInvalidArguments, "member", undo, js("board_id", board, "idempotency_key", key))
	}
	for _, tool := range toolapi.NewContract().Tools() {
		if !tool.Replays {
			w.refused(toolapi.CodeIdempotencyUnsupported, "member", tool.Name, "", "Idempotency-Key", "k")
		}
	}
	if w.snapshot("audit") != before {
		t.Error("something ran")
	}
}

func TestReplay(t *testing.T) {
	w := newFixture(t)
	board := w.demo.IDs["board_id"]
	first := w.undo("k")
	for name, again := range map[string]func() response{
		"same": func() response { return w.undo("k") },
		"reordered": func() response {
			return w.call("member", undo, ` { "workspace" : "acme", "board_id":"`+board+`"}`, "Idempotency-Key", "k")
		},
		"body":    func() response { return w.call("member", undo, js("board_id", board, "idempotency_key", "k")) },
		"restart": func() response { w.restart(); return w.undo("k") },
	} {
		t.Run(name, func(t *testing.T) {
			if a := again(); !bytes.Equal(bytes.Replace(first.body, []byte(`"replayed":false`), []byte(`"replayed":true`), 1), a.body) {
				t.Errorf("%s:\n%s\n%s", name, first.body, a.body)
			}
		})
	}
	w.pass(24 * time.Hour)
	if a := w.undo("k"); a.fields["replayed"] != true {
		t.Errorf("24 h: %s", a.body)
	}
	w.pass(23*time.Hour + 59*time.Minute)
	if a := w.undo("k"); a.fields["replayed"] != true || w.revision() != "5" {
		t.Errorf("47:59 h: %s", a.body)
	}
	w.pass(2 * time.Minute)
	if a := w.undo("k"); a.fields["replayed"] != false || w.revision() != "6" {
		t.Errorf("48:01 h: %s", a.body)
	}
	w.ok("member", undo, js("board_id", board), "Idempotency-Key", `"k"`) // quotes are significant
	if n := w.value("SELECT count(*) FROM audit WHERE outcome = 'done'"); n != "3" {
		t.Errorf("%s effects in the audit trail", n)
	}
	w.ok("member", undo, js("board_id", board), "Idempotency-Key", "to-the-start")
	refused := w.refused(toolapi.CodeNothingToUndo, "member", undo, js("board_id", board), "Idempotency-Key", "r")
	w.ok("member", "automations.redo_draft", js("board_id", board), "Idempotency-Key", "r")
	if a := w.undo("r"); !bytes.Equal(a.body, refused.body) {
		t.Errorf("H-009: %s", a.body)
	}
	w.pass(49 * time.Hour)
	if err := w.service.Clean(t.Context()); err != nil || w.value("SELECT count(*) FROM answers") != "0" {
		t.Errorf("old answers are kept: %v", err)
	}
}

func TestRefusalsThatAreNotKept(t *testing.T) {
	w := newFixture(t)
	board := w.demo.IDs["board_id"]
	w.refused(toolapi.CodeInvalidArguments, "both", undo, `{}`, "Idempotency-Key", "k")
	w.refused(toolapi.CodeWorkspaceAmbiguous, "both", undo, js("board_id", board), "Idempotency-Key", "k")
	if a := w.ok("both", undo, js("board_id", board, "workspace", "acme"), "Idempotency-Key", "k"); a.fields["replayed"] != false {
		t.Errorf("%s", a.body)
	}
	for _, name := range []string{" ", "two\nlines"} { // only the tool itself can notice it
		w.refused(toolapi.CodeInvalidArguments, "member", "page.create", js("name", name), "Idempotency-Key", "c")
	}
	if a := w.ok("member", "page.create", js("name", "One line"), "Idempotency-Key", "c"); a.fields["replayed"] != false {
		t.Errorf("%s", a.body)
	}
	for range 5 {
		w.call("limited", undo, `{}`, "Idempotency-Key", "l")
	}
	w.refused(toolapi.CodeRateLimited, "limited", undo, js("board_id", board), "Idempotency-Key", "l")
	w.pass(time.Minute)
	if a := w.ok("limited", undo, js("board_id", board), "Idempotency-Key", "l"); a.fields["replayed"] != false {
		t.Errorf("%s", a.body)
	}
}

func TestKeyScope(t *testing.T) {
	w := newFixture(t)
	board := w.demo.IDs["board_id"]
	w.undo("k")
	before := w.snapshot("audit")
	w.refused(toolapi.CodeIdempotencyReused, "member", undo, js("board_id", board, "revision", 5), "Idempotency-Key", "k")
	w.refused(toolapi.CodeIdempotencyReused, "member", undo, js("board_id", "other"), "Idempotency-Key", "k")
	if w.snapshot("audit") != before {
		t.Error("a reused key changed something")
	}
	for name, a := range map[string]response{
		"other holder": w.call("both", undo, js("board_id", board, "workspace", "acme"), "Idempotency-Key", "k"),
		"other tool":   w.call("member", "automations.redo_draft", js("board_id", board), "Idempotency-Key", "k"),
	} {
		if a.fields["replayed"] != false {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	w.refused(toolapi.CodeBoardUnknown, "both", undo, js("board_id", board, "workspace", "globex"), "Idempotency-Key", "k")
	// Another key of the same holder.
	if a := w.ok("limited", undo, js("board_id", board), "Idempotency-Key", "k"); a.fields["replayed"] != true {
		t.Errorf("%s", a.body)
	}
}

func TestParallelSameKey(t *testing.T) {
	w := newFixture(t)
	for round := range 3 {
		before := w.revision()
		var group sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]int{}
		for range 50 {
			group.Go(func() {
				a := w.undo(fmt.Sprint("parallel-", round))
				mu.Lock()
				defer mu.Unlock()
				seen[string(a.body)]++
			})
		}
		group.Wait()
		if len(seen) != 2 {
			t.Errorf("%d different answers: %v", len(seen), seen)
		}
		for body, n := range seen {
			if first := strings.Contains(body, `"replayed":false`); first && n != 1 || !first && n != 49 {
				t.Errorf("%d times %s", n, body)
			}
		}
		if after := w.revision(); len(after) == len(before) && after[0] != before[0]+1 {
			t.Errorf("revision %s, then %s", before, after)
		}
	}
}

// TestDraftHistory is section 3.3.1 of the platform document.
func TestDraftHistory(t *testing.T) {
	w := newFixture(t)
	board, n := w.demo.IDs["board_id"], 0
	step := func(tool string, revision any) response {
		n++
		body := js("board_id", board)
		if revision != nil {
			body = js("board_id", board, "revision", revision)
		}
		return w.call("member", "automations."+tool, body, "Idempotency-Key", fmt.Sprint(n))
	}
	expect := func(a response, revision float64, undo, redo bool) {
		t.Helper()
		if a.fields["revision"] != revision || a.fields["can_undo"] != undo || a.fields["can_redo"] != redo ||
			a.fields["status"] != "draft" ||
			a.fields["board_id"] != board || a.fields["display_name"] != "Welcome new leads" {
			t.Errorf("%s", a.body)
		}
	}
	if a := step("redo_draft", nil); a.code() != toolapi.CodeNothingToRedo {
		t.Errorf("%s", a.body)
	}
	if a := step("undo_draft", 3); a.code() != toolapi.CodeDraftMoved {
		t.Errorf("%s", a.body)
	}
	expect(step("undo_draft", 4), 5, true, true)
	expect(step("undo_draft", nil), 6, true, true)
	expect(step("redo_draft", 6), 7, true, true)
	expect(step("redo_draft", nil), 8, true, false)
	for range 3 {
		step("undo_draft", nil)
	}
	expect(step("undo_draft", nil), 12, false, true)
	if a := step("undo_draft", nil); a.code() != toolapi.CodeNothingToUndo {
		t.Errorf("%s", a.body)
	}
	if a := step("discard_draft", nil); a.code() != toolapi.CodeNothingToDiscard {
		t.Errorf("%s", a.body)
	}
	expect(step("redo_draft", nil), 13, true, true)
	expect(step("discard_draft", 13), 14, true, false) // the redo is no longer possible, but the draft can be restored
	expect(step("undo_draft", nil), 15, true, true)
	if running := w.value("SELECT running FROM boards"); running != `{"steps":[]}` {
		t.Errorf("the running version is %s", running)
	}
}
