package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// bombs are scripts that must be ended, or must fail by themselves, without
// harm to what runs next.
var bombs = map[string]struct {
	code string
	want string // part of the error's text; "killed" for *KilledError
}{
	"endless loop":     {`while (true) {}`, "killed"},
	"finally loop":     {`for (;;) { try { continue } finally { continue } }`, "killed"},
	"catching loop":    {`for (;;) { try { for (;;) {} } catch {} }`, "killed"},
	"regex":            {`/^(a+)+$/.test("a".repeat(40) + "b")`, "killed"},
	"sort":             {`for (;;) new Array(1e5).fill(0).map((_, i) => i * 7919 % 1e5).sort((a, b) => a - b)`, "killed"},
	"native join":      {`new Array(5e7).join("")`, "killed"},
	"native indexOf":   {`("a".repeat(3e5) + "b").indexOf("a".repeat(1e5) + "c" + "a".repeat(1e5)); for(;;) ("a".repeat(3e5)).indexOf("a".repeat(1e5) + "c")`, "killed"},
	"native reverse":   {`Array.prototype.reverse.call({length: 1e9})`, "killed"},
	"big power":        {`let x = 3n; for (;;) x = x ** 3n % (2n ** 100000n)`, "killed"},
	"microtasks":       {`(function f() { Promise.resolve().then(f) })(); 0`, "killed"},
	"await loop":       {`(async () => { for (;;) await 0 })(); 0`, "killed"},
	"recursion":        {`(function f() { f() })()`, "RangeError: Maximum call stack size exceeded"},
	"json nesting":     {`JSON.parse("[".repeat(1e6))`, ""},
	"many arrays":      {`const a = []; for (;;) a.push(new Uint8Array(1 << 20))`, "out of memory"},
	"one huge array":   {`new Uint8Array(4e9)`, "RangeError"},
	"string doubling":  {`let s = "x"; for (;;) s += s`, ""},
	"fill":             {`new Array(1e9).fill(0)`, ""},
	"proxy chain":      {`let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x`, "RangeError"},
	"deep toString":    {`let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)`, "RangeError"},
	"getter loop":      {`const o = {get x() { for (;;) {} }}; o.x`, "killed"},
	"generator":        {`function* g() { for (;;) yield 1 } for (const x of g()) {}`, "killed"},
	"label":            {`a: for (;;) { b: for (;;) continue a }`, "killed"},
	"split":            {`for (;;) "a,".repeat(1e6).split(",")`, "killed"},
	"symbol iterator":  {`[...{[Symbol.iterator]: () => ({next: () => ({done: false})})}]`, ""},
	"typed array sort": {`for (;;) new Float64Array(1e6).map(Math.random).sort()`, "killed"},
}

func TestBombs(t *testing.T) {
	const budget = 50 * time.Millisecond
	resets := make(chan error, 8)
	i := start(t, engine.IsolateOptions{OnReset: func(cause error) { resets <- cause }})
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			s := scope(t, budget)
			_, err := run(i, s, bomb.code)
			var killed *engine.KilledError
			isKill := errors.As(err, &killed)
			switch {
			case err == nil:
				t.Fatal("it ended without an error")
			case bomb.want == "killed" && !isKill:
				t.Fatalf("got %v, want it killed", err)
			case bomb.want != "killed" && !isKill && !strings.Contains(err.Error(), bomb.want):
				t.Fatalf("got %v, want %q", err, bomb.want)
			case isKill && (killed.Scope != s || killed.Budget != budget):
				t.Errorf("the kill names another scope or budget: %+v", killed)
			}
			if isKill {
				_ = receive(t, resets)
				if used := s.CPU(); used < budget || used > 200*budget {
					t.Errorf("killed after %v of a budget of %v", used, budget)
				}
			}
			if got, err := run(i, scope(t, time.Second), `6*7`); err != nil || got != "42" {
				t.Fatalf("the next turn: got %s, %v", got, err)
			}
		})
	}
}

func TestKillNamesTheLine(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	_, err := run(i, scope(t, 30*time.Millisecond), "function spin() {\n  let n = 0;\n  for (;;) {\n    n += Math.abs(1);\n  }\n}\nfunction outer() { spin(); }\nouter()")
	var killed *engine.KilledError
	if !errors.As(err, &killed) {
		t.Fatal(err)
	}
	if !strings.Contains(killed.Stack, "at spin (<evalScript>:4") && !strings.Contains(killed.Stack, "at spin (<input>:4") {
		t.Errorf("the trace does not name line 4 of spin:\n%s", killed.Stack)
	}
}

func TestBudgetIsOverTurns(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	s := scope(t, 60*time.Millisecond)
	var err error
	turns := 0
	for ; err == nil && turns < 100; turns++ {
		_, err = run(i, s, `for (let end = Date.now() + 10; Date.now() < end;) {}; 0`)
	}
	var killed *engine.KilledError
	if !errors.As(err, &killed) || turns < 4 || turns > 8 {
		t.Errorf("after %d turns of 10 ms: %v", turns, err)
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	for name, code := range map[string]string{
		"loop":       `for (;;) {}`,
		"native":     `Array.prototype.reverse.call({length: 1e9})`,
		"microtasks": `(function f() { Promise.resolve().then(f) })(); 0`,
	} {
		i := start(t, engine.IsolateOptions{})
		ended := make(chan error, 1)
		go func() { _, err := run(i, scope(t, 0), code); ended <- err }()
		i.Close()
		if err := receive(t, ended); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestEngineCloseEndsItsIsolates: code and memory go only once nothing runs.
func TestEngineCloseEndsItsIsolates(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	image, err := e.Boot(t.Context(), prelude, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 4)
	for range cap(ended) {
		i, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, err := run(i, scope(t, 0), `for (;;) {}`); ended <- err }()
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range cap(ended) {
		if err := receive(t, ended); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("an isolate of a closed engine: %v", err)
	}
}
