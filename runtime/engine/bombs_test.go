package engine_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// bombs are scripts that must be ended, or must fail by themselves, without
// harm to what runs next.
var bombs = map[string]struct {
	code string
	want string // part of the error's text; "killed" for *KilledError; "" for either
}{
	// loops
	"endless loop":        {`while (true) {}`, "killed"},
	"empty for":           {`for (;;);`, "killed"},
	"long straight line":  {"for (let a = 1, b = 3;;) {" + strings.Repeat("a = a * b + 1 | 0;", 5000) + "}", "killed"},
	"do while":            {`do {} while (1)`, "killed"},
	"labels":              {`a: for (;;) { b: for (;;) continue a }`, "killed"},
	"finally loop":        {`for (;;) { try { continue } finally { continue } }`, "killed"},
	"catching loop":       {`for (;;) { try { for (;;) {} } catch {} }`, "killed"},
	"throwing loop":       {`for (;;) { try { throw 1 } catch {} }`, "killed"},
	"finally without end": {`try { for (;;) {} } finally { for (;;) {} }`, "killed"},
	"recursive finally":   {`(function f() { try { f() } finally { f() } })()`, "killed"},
	"switch loop":         {`for (let x = 0;; x ^= 1) switch (x) { case 0: case 1: continue }`, "killed"},
	"prototype walk":      {`let o = {}; for (let i = 0; i < 1e4; i++) o = Object.create(o); for (;;) o.missing`, "killed"},
	"in operator":         {`let o = {}; for (let i = 0; i < 1e4; i++) o = Object.create(o); for (;;) "x" in o`, "killed"},
	"class static block":  {`class A { static { for (;;) {} } }`, "killed"},
	"class field":         {`class A { x = (() => { for (;;) {} })() } new A()`, "killed"},
	"parameter default":   {`((x = (() => { for (;;) {} })()) => x)()`, "killed"},
	"tagged template":     {"const tag = () => { for (;;) {} }; tag`x`", "killed"},
	"destructuring":       {`const [...all] = (function* () { for (;;) yield 1 })()`, ""},
	"spread in a call":    {`Math.max(...(function* () { for (;;) yield 1 })())`, ""},
	"recursion":           {`(function f() { f() })()`, "RangeError: Maximum call stack size exceeded"},
	"mutual recursion":    {`const a = () => b(), b = () => a(); a()`, "RangeError"},
	"constructor chain":   {`class A { constructor() { new A() } } new A()`, "RangeError"},
	"tower of catches":    {`(function f() { try { f() } catch { f() } })()`, "killed"},
	"huge apply":          {`Math.max.apply(null, { length: 1e9 })`, ""},
	"with getters":        {`const o = { get x() { return this.x } }; o.x`, "RangeError"},
	// getters, proxies, conversions
	"getter loop":      {`const o = { get x() { for (;;) {} } }; o.x`, "killed"},
	"proxy get":        {`new Proxy({}, { get() { for (;;) {} } }).x`, "killed"},
	"proxy keys":       {`Object.keys(new Proxy({}, { ownKeys() { return Array.from({ length: 1e6 }, (_, i) => "k" + i) } }))`, "killed"},
	"proxy chain":      {`let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x`, "RangeError"},
	"proxy of itself":  {`const h = {}; const p = new Proxy({}, h); h.__proto__ = p; p.x`, "RangeError"},
	"proxy prototype":  {`const p = new Proxy({}, { getPrototypeOf: () => p }); ({}) instanceof Object; p instanceof (class {})`, ""},
	"toString loop":    {"`${{ toString() { for (;;) {} } }}`", "killed"},
	"valueOf loop":     {`+{ valueOf() { for (;;) {} } }`, "killed"},
	"toPrimitive loop": {`new Date({ [Symbol.toPrimitive]() { for (;;) {} } })`, "killed"},
	"toJSON loop":      {`JSON.stringify({ toJSON() { for (;;) {} } })`, "killed"},
	"species":          {`class A extends Array { static get [Symbol.species]() { for (;;) {} } } new A(1).map((x) => x)`, "killed"},
	"deep toString":    {`let a = []; for (let i = 0; i < 1e4; i++) a = [a]; String(a)`, "RangeError"},
	"deep again":       {`let a = []; for (let i = 0; i < 1e4; i++) a = [a]; for (;;) try { String(a) } catch {}`, "killed"},
	"error stack":      {`Error.prepareStackTrace = () => { for (;;) {} }; new Error().stack`, "killed"},
	"cause chain":      {`let e = new Error("x"); for (;;) e = new Error("x", { cause: e })`, ""},
	// iterators and generators
	"generator":           {`function* g() { for (;;) yield 1 } for (const x of g()) {}`, "killed"},
	"yield star":          {`function* g() { yield* g() } [...g()]`, "RangeError"},
	"symbol iterator":     {`[...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }]`, ""},
	"Array.from iterator": {`Array.from({ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) })`, ""},
	"iterator helpers":    {`(function* () { for (;;) yield 1 })().filter(() => false).next()`, "killed"},
	"Map from iterator":   {`new Map((function* () { for (let i = 0;; i++) yield [i, i] })())`, ""},
	"Object.groupBy":      {`Object.groupBy((function* () { for (;;) yield 1 })(), (x) => x)`, ""},
	// jobs
	"microtasks":       {`(function f() { Promise.resolve().then(f) })(); 0`, "killed"},
	"queueMicrotask":   {`(function f() { queueMicrotask(f) })(); 0`, "killed"},
	"await loop":       {`(async () => { for (;;) await 0 })(); 0`, "killed"},
	"await in finally": {`(async () => { for (;;) try { await Promise.reject(1) } catch {} finally { await 0 } })(); 0`, "killed"},
	"promise fork":     {`(function f() { Promise.resolve().then(f); Promise.resolve().then(f) })(); 0`, ""},
	"thenable loop":    {`const t = { then(f) { f(t) } }; Promise.resolve(t); 0`, "killed"},
	"async generator":  {`(async () => { for await (const x of (async function* () { for (;;) yield 1 })()) {} })(); 0`, "killed"},
	"promise chain":    {`let p = Promise.resolve(); for (;;) p = p.then(() => {})`, ""},
	"Promise.all":      {`Promise.all((function* () { for (;;) yield 1 })()); 0`, ""},
	"loop in a job":    {`Promise.resolve().then(() => { for (;;) {} }); 0`, "killed"},
	// natives on arrays
	"native join":        {`new Array(5e7).join("")`, "killed"},
	"join of likes":      {`Array.prototype.join.call({ length: 1e9 })`, ""},
	"native reverse":     {`Array.prototype.reverse.call({ length: 1e9 })`, "killed"},
	"native indexOf":     {`Array.prototype.indexOf.call({ length: 2 ** 52 }, 1)`, "killed"},
	"lastIndexOf":        {`Array.prototype.lastIndexOf.call({ length: 2 ** 52 }, 1)`, "killed"},
	"includes":           {`Array.prototype.includes.call({ length: 2 ** 52 }, 1)`, "killed"},
	"fill of likes":      {`Array.prototype.fill.call({ length: 2 ** 52 }, 0)`, ""},
	"copyWithin":         {`Array.prototype.copyWithin.call({ length: 2 ** 52 }, 1, 0)`, "killed"},
	"splice":             {`Array.prototype.splice.call({ length: 2 ** 52 }, 0, 1)`, "killed"},
	"unshift":            {`Array.prototype.unshift.call({ length: 2 ** 50 }, 1)`, "killed"},
	"shift":              {`Array.prototype.shift.call({ length: 2 ** 50 })`, "killed"},
	"every":              {`Array.prototype.every.call({ length: 2 ** 52 }, () => true)`, "killed"},
	"flat":               {`const a = []; a[0] = a; a[1] = a; a.flat(Infinity)`, ""},
	"concat":             {`let a = [1]; for (;;) a = a.concat(a)`, ""},
	"fill":               {`new Array(1e9).fill(0)`, ""},
	"sparse sort":        {`const a = []; a[2 ** 31] = 1; a.sort()`, ""},
	"sort":               {`for (;;) new Array(1e5).fill(0).map((_, i) => i * 7919 % 1e5).sort((a, b) => a - b)`, "killed"},
	"hostile comparator": {`new Array(1e6).fill(0).sort(() => Math.random() - 0.5)`, "killed"},
	"growing comparator": {`const a = [3, 2, 1]; a.sort(() => { for (;;) a.push(1) })`, ""},
	"Array.from length":  {`Array.from({ length: 1e9 })`, ""},
	"toSorted":           {`Array.prototype.toSorted.call({ length: 1e8 })`, ""},
	"reduceRight":        {`Array.prototype.reduceRight.call({ length: 2 ** 52 }, (a) => a, 0)`, "killed"},
	"many arrays":        {`const a = []; for (;;) a.push(new Uint8Array(1 << 20))`, ""},
	"one huge array":     {`new Uint8Array(4e9)`, "RangeError"},
	"typed array sort":   {`for (;;) new Float64Array(1e6).map(Math.random).sort()`, "killed"},
	"typed array fill":   {`const a = new Uint8Array(1e8); for (;;) a.fill(7)`, ""},
	"typed array set":    {`const a = new Uint8Array(4e7), b = new Float64Array(4e6); for (;;) a.set(b)`, ""},
	"typed array join":   {`new Uint8Array(5e7).join()`, ""},
	"typed comparator":   {`new Float64Array(1e6).sort(() => 1)`, "killed"},
	"resizable buffer":   {`const b = new ArrayBuffer(1, { maxByteLength: 1e8 }); for (let n = 1;; n += 1e6) b.resize(n)`, ""},
	"buffer transfer":    {`let b = new ArrayBuffer(5e7); for (;;) b = b.transfer(b.byteLength - 1)`, ""},
	// strings and regular expressions
	"string doubling":     {`let s = "x"; for (;;) s += s`, ""},
	"repeat":              {`"x".repeat(2 ** 30)`, ""},
	"padStart":            {`"x".padStart(2 ** 30 - 1, "ab")`, ""},
	"replaceAll":          {`"x".repeat(1e6).replaceAll("x", "y".repeat(1e3))`, ""},
	"replace with a loop": {`"x".replace(/x/, () => { for (;;) {} })`, "killed"},
	"split":               {`for (;;) "a,".repeat(1e6).split(",")`, ""},
	"string indexOf":      {`const s = "a".repeat(3e5), n = "a".repeat(1e5) + "c"; for (;;) s.indexOf(n)`, "killed"},
	"string lastIndexOf":  {`const s = "a".repeat(3e5), n = "c" + "a".repeat(1e5); for (;;) s.lastIndexOf(n)`, "killed"},
	"localeCompare":       {`const s = "é".repeat(1e6); for (;;) s.localeCompare(s + "x")`, ""},
	"normalize":           {`const s = "é".repeat(1e6); for (;;) s.normalize("NFD")`, ""},
	"toUpperCase":         {`const s = "ß".repeat(1e6); for (;;) s.toUpperCase()`, ""},
	"String.raw":          {`String.raw({ raw: { length: 1e9 } })`, ""},
	"at of a rope":        {`let s = ""; for (let i = 0;; i++) { s = i + s + i; s[0] }`, ""},
	"regex":               {`/^(a+)+$/.test("a".repeat(40) + "b")`, "killed"},
	"regex replace":       {`("a".repeat(40) + "b").replace(/^(a+)+$/, "")`, "killed"},
	"regex split":         {`("a".repeat(40) + "b").split(/(a+)+$/)`, "killed"},
	"regex matchAll":      {`[...("a".repeat(40) + "b").matchAll(/(a+)+$/g)]`, "killed"},
	"regex sticky":        {`/(a+)+$/y.exec("a".repeat(40) + "b")`, "killed"},
	"regex look-behind":   {`/(?<=^(a+)+)b/.test("a".repeat(40) + "c")`, ""},
	"regex reference":     {`/^(a*)*\1b$/.test("a".repeat(60))`, "killed"},
	"regex scan":          {`const s = "ab".repeat(5e5); for (;;) /ac/.test(s)`, "killed"},
	"regex compile":       {`for (;;) new RegExp("(?:a|b){1,1000}".repeat(50))`, ""},
	"regex nesting":       {`new RegExp("(".repeat(1e5) + ")".repeat(1e5))`, ""},
	"regex exec trap":     {`const r = /x/g; r.exec = () => ({ index: 0, length: 1, 0: "" }); "x".replace(r, "y")`, ""},
	"toLocaleString":      {`for (;;) (1e300).toLocaleString() + new Date().toString()`, "killed"},
	// numbers and JSON
	"big power":         {`let x = 3n; for (;;) x = x ** 3n % (2n ** 100000n)`, "killed"},
	"big power at once": {`3n ** 600000n`, ""},
	"big factorial":     {`let x = 1n; for (let i = 1n;; i++) x *= i`, ""},
	"big toString":      {`const x = 2n ** 1000000n; for (;;) x.toString()`, ""},
	"big parse":         {`const s = "9".repeat(300000); for (;;) BigInt(s)`, ""},
	"big shift":         {`1n << (2n ** 40n)`, "RangeError"},
	"toFixed":           {`for (;;) (1e21 / 3).toFixed(100) + (1 / 3).toString(7)`, "killed"},
	"json nesting":      {`JSON.parse("[".repeat(1e6))`, ""},
	"json width":        {`JSON.parse("[" + "1,".repeat(3e6) + "1]")`, ""},
	"json reviver":      {`JSON.parse("[1]", function () { for (;;) {} })`, "killed"},
	"json growing": {
		`JSON.parse("[0,0]", function (k, v) { if (Array.isArray(this)) this.push(0); return v }) && JSON.parse("[[]]",
			function (k, v) { this[k + "x"] = [[]]; return [[]] })`,
		"",
	},
	"json stringify deep": {`let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)`, "RangeError"},
	"json stringify wide": {`JSON.stringify(new Array(1e8))`, ""},
	"json indent":         {`let o = 1; for (let i = 0; i < 300; i++) o = [o, o]; JSON.stringify(o, null, 10)`, ""},
	// collections, memory, code
	"map growth":          {`const m = new Map(); for (let i = 0;; i++) m.set(i, i)`, ""},
	"set growth":          {`const s = new Set(); for (let i = 0;; i++) s.add({})`, ""},
	"map while iterating": {`const m = new Map([[0, 0]]); for (const [k] of m) { m.delete(k); m.set(k + 1, 0) }`, "killed"},
	"set operations": {
		`const s = { size: Infinity, has: () => true, keys: () => ({ next: () => ({ done: false }) }) }; new Set([1]).union(s)`,
		"",
	},
	"weak references":     {`const all = []; for (;;) all.push(new WeakRef({}))`, ""},
	"properties":          {`const o = {}; for (let i = 0;; i++) o["k" + i] = i`, ""},
	"shapes":              {`for (let i = 0;; i++) ({ ["k" + i]: 1, ["l" + i]: 2 })`, ""},
	"symbols":             {`const all = []; for (;;) all.push(Symbol("x"))`, ""},
	"cycles":              {`for (;;) { const a = {}; a.a = a; a.b = new Array(100).fill(a) }`, "killed"},
	"closures":            {`let f = () => 0; for (;;) { const g = f; f = () => g() }`, ""},
	"bound functions":     {`let f = () => 0; for (let i = 0; i < 1e5; i++) f = f.bind(null); f()`, "RangeError"},
	"date parse":          {`for (;;) new Date("x".repeat(1e6))`, "killed"},
	"encodeURIComponent":  {`const s = "é".repeat(1e6); for (;;) encodeURIComponent(s)`, ""},
	"decodeURIComponent":  {`const s = "%41".repeat(1e6); for (;;) decodeURIComponent(s)`, ""},
	"import loop":         {`(function f() { import("none").catch(f) })(); 0`, "killed"},
	"structured defining": {`Object.defineProperties({}, new Proxy({}, { ownKeys: () => { for (;;) {} } }))`, "killed"},
	"freeze":              {`Object.freeze(Array.from({ length: 3e6 }, () => 1))`, ""},
	"assign":              {`const a = "x".repeat(1e6); for (;;) Object.assign({}, a)`, ""},
	"async stack":         {`(async function f() { await f() })(); 0`, ""},
	// thrown values
	"thrown riddle":  {`const o = { toString() { throw o } }; throw o`, "cannot be shown"},
	"thrown getters": {`throw { get name() { throw this }, get message() { throw this }, get stack() { throw this } }`, "Error"},
	"thrown loop":    {`throw { get message() { for (;;) {} } }`, "killed"},
	"thrown ring":    {`const a = new Error("a"), b = new Error("b", { cause: a }); a.cause = b; throw a`, "Error: a"},
	"thrown proxy":   {`throw new Proxy({}, { get() { throw new Error("x") } })`, "Error"},
}

// bombEngine is shared: in wazero it takes a while to compile.
var bombEngine = sync.OnceValues(func() (*engine.Engine, error) {
	return engine.Open(context.Background(), engine.Options{})
})

// bombIsolate starts an isolate of the shared engine; onReset hears why it starts over.
func bombIsolate(t *testing.T, onReset func(error)) *engine.Isolate {
	t.Helper()
	e, err := bombEngine()
	if err != nil {
		t.Fatal(err)
	}
	image, err := e.Boot(t.Context(), prelude, nil)
	if err != nil {
		t.Fatal(err)
	}
	i, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{OnReset: func(_ *engine.Scope, cause error) { onReset(cause) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// deepest has the machine stack grown, in steps that no budget ends: see Isolate.renew.
const deepest = `(function f() { f() })()`

// TestBombs: a turn ends at most [overshoot] of CPU time after its budget.
func TestBombs(t *testing.T) {
	testmachine.Long(t)
	const (
		budget  = 50 * time.Millisecond
		sampled = 4 // of so many bombs one is thrown with the race detector and -short
	)
	resets := make(chan error, 8)
	i := bombIsolate(t, func(cause error) { resets <- cause })
	for n, name := range slices.Sorted(maps.Keys(bombs)) {
		if slowdown > 1 && testing.Short() && n%sampled != 0 {
			continue // make soak throws all of them with the detector
		}
		bomb := bombs[name]
		t.Run(name, func(t *testing.T) {
			var s *engine.Scope
			var killed *engine.KilledError
			var used time.Duration
			var err error
			isKill := false
			for range tries {
				if _, err := run(i, scope(t, 20*time.Second), deepest); err == nil {
					t.Fatal("the stack has no end")
				}
				s = scope(t, budget)
				_, err = run(i, s, bomb.code)
				used, isKill = s.CPU(), errors.As(err, &killed)
				if isKill {
					_ = receive(t, resets)
				}
				if used <= budget+overshoot*slowdown {
					break
				}
			}
			switch {
			case err == nil && (bomb.want != "" || used > budget+overshoot*slowdown):
				t.Fatalf("it ended without an error after %v", used)
			case err != nil && bomb.want == "killed" && !isKill:
				t.Fatalf("got %v, want it killed", err)
			case err != nil && bomb.want != "killed" && !isKill && !strings.Contains(err.Error(), bomb.want):
				t.Fatalf("got %v, want %q", err, bomb.want)
			case isKill && (killed.Scope != s || killed.Budget != budget):
				t.Errorf("the kill names another scope or budget: %+v", killed)
			case isKill && used < budget, used > budget+overshoot*slowdown:
				t.Errorf("ended after %v of a budget of %v: %v", used, budget, err)
			}
			t.Logf("%v: %v", used, err)
			if got, err := run(i, scope(t, time.Second), `6*7`); err != nil || got != "42" {
				t.Fatalf("the next turn: got %s, %v", got, err)
			}
		})
	}
}
