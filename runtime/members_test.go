package runtime_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// memberDifferences are the keys of globals that workerd has and a Worker here has not, or the other way round, and why.
var memberDifferences = []struct {
	what, absent, added, why string
}{
	{"globals", "", "InternalError", "the engine throws it"},
	{"InternalError", "", "*", "same"},
	{"InternalError.prototype", "", "*", "same"},
	{"RangeError.prototype", "", "stack", "of errors that the engine ends code with, which have no stack of their own"},
	{"globals", "Buffer clearImmediate global process setImmediate", "", "of nodejs_compat, which workerd turns on in part at this date"},
	{
		"globals", "",
		"Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList " +
			"PerformanceResourceTiming", "workerd shows them with nodejs_compat alone",
	},
	{"Performance", "", "*", "same"},
	{"Performance.prototype", "", "*", "same"},
	{"new Performance", "", "*", "same"},
	{"PerformanceEntry", "", "*", "same"},
	{"PerformanceEntry.prototype", "", "*", "same"},
	{"PerformanceMark", "", "*", "same"},
	{"PerformanceMark.prototype", "", "*", "same"},
	{"new PerformanceMark", "", "*", "same"},
	{"PerformanceMeasure", "", "*", "same"},
	{"PerformanceMeasure.prototype", "", "*", "same"},
	{"new PerformanceMeasure", "", "*", "same"},
	{"PerformanceObserver", "", "*", "same"},
	{"PerformanceObserver.prototype", "", "*", "same"},
	{"new PerformanceObserver", "", "*", "same"},
	{"PerformanceObserverEntryList", "", "*", "same"},
	{"PerformanceObserverEntryList.prototype", "", "*", "same"},
	{"PerformanceResourceTiming", "", "*", "same"},
	{"PerformanceResourceTiming.prototype", "", "*", "same"},
	{"globals", "", "QuotaExceededError", "a class of its own, as the standard"},
	{"QuotaExceededError", "", "*", "same"},
	{"QuotaExceededError.prototype", "", "*", "same"},
	{"globals", "", "addEventListener dispatchEvent removeEventListener", "places of globals, as Web IDL"},
	{"globals", "Body", "", "methods of the body are those of Request and Response, as the standard"},
	{"Body", "*", "", "same"},
	{"Body.prototype", "*", "", "same"},
	{"Request.prototype", "", "arrayBuffer blob body bodyUsed bytes formData json text", "same"},
	{"Response.prototype", "", "arrayBuffer blob body bodyUsed bytes formData json text", "same"},
	{
		"globals", "FetchEvent ScheduledEvent TailEvent TraceEvent WebSocketRequestResponsePair", "",
		"the platform never calls their handlers",
	},
	{"FetchEvent", "*", "", "same"},
	{"FetchEvent.prototype", "*", "", "same"},
	{"ScheduledEvent", "*", "", "same"},
	{"ScheduledEvent.prototype", "*", "", "same"},
	{"TailEvent", "*", "", "same"},
	{"TailEvent.prototype", "*", "", "same"},
	{"TraceEvent", "*", "", "same"},
	{"TraceEvent.prototype", "*", "", "same"},
	{"WebSocketRequestResponsePair", "*", "", "same"},
	{"WebSocketRequestResponsePair.prototype", "*", "", "same"},
	{"ExtendableEvent.prototype", "waitUntil", "", "same"},
	{"CacheStorage.prototype", "", "default", "attributes are on the prototype, as Web IDL"},
	{"new CacheStorage", "default", "", "same"},
	{"caches", "default", "", "same"},
	{"CloseEvent.prototype", "", "code reason wasClean", "same"},
	{"new CloseEvent", "code reason wasClean", "", "same"},
	{"CryptoKey.prototype", "", "algorithm extractable type usages", "same"},
	{"new CryptoKey", "algorithm extractable type usages", "", "same"},
	{"DOMException.prototype", "", "code message name", "an instance has them as properties of its own, too"},
	{"MessageChannel.prototype", "", "port1 port2", "same"},
	{"new MessageChannel", "port1 port2", "", "same"},
	{"MessageEvent.prototype", "", "data lastEventId origin ports source", "same"},
	{"new MessageEvent", "data lastEventId origin ports source", "", "same"},
	{"Navigator.prototype", "", "hardwareConcurrency language languages platform userAgent", "same"},
	{"new Navigator", "hardwareConcurrency language languages platform userAgent", "", "same"},
	{"navigator", "hardwareConcurrency language languages platform userAgent", "", "same"},
	{"PromiseRejectionEvent.prototype", "", "promise reason", "same"},
	{"new PromiseRejectionEvent", "throws TypeError: Illegal constructor", "", "as the standard"},
	{"CompressionStream.prototype", "", "readable writable", "not inherited from TransformStream, as the standard"},
	{"DecompressionStream.prototype", "", "readable writable", "same"},
	{"TextDecoderStream.prototype", "", "readable writable", "same"},
	{"TextEncoderStream.prototype", "", "readable writable", "same"},
	{"IdentityTransformStream.prototype", "", "readable", "its readable side is one of bytes"},
	{"Event.prototype", "", "initEvent", "as the standard"},
	{"MessageEvent.prototype", "", "initMessageEvent", "as the standard"},
	{"MessagePort.prototype", "", "onclose onmessageerror", "as the standard"},
	{"WebSocket.prototype", "", "onclose onerror onmessage onopen", "as the standard"},
	{
		"Request.prototype", "fetcher",
		"credentials destination duplex isHistoryNavigation isReloadNavigation mode referrer referrerPolicy",
		"as the standard; no service bindings",
	},
	{"Headers.prototype", "Symbol(immutable)", "", "workerd's own, for its inspector"},
	{"ReadableStream.prototype", "Symbol(length) Symbol(state) Symbol(supportsBYOB)", "", "same"},
	{"WritableStream.prototype", "Symbol(expectsBytes) Symbol(state)", "", "same"},
	{"ReadableStreamBYOBRequest.prototype", "atLeast", "", "readAtLeast repeats its reads"},
	{"Intl", "v8BreakIterator", "", "V8's own"},
	{"console", "context createTask", "", "V8's inspector"},
	{
		"RegExp", "$& $' $+ $1 $2 $3 $4 $5 $6 $7 $8 $9 $_ $` input lastMatch lastParen leftContext rightContext", "",
		"only for code that names them",
	},
	{"WebAssembly", "", "compileStreaming instantiateStreaming", "they refuse, and say how a module is imported"},
	{"WebAssembly.Module", "Symbol(Symbol.hasInstance)", "", "of modules that are imported by phase"},
	{"WebAssembly", "SuspendError Suspending promising", "", "no stack of WebAssembly can be put aside"},
	{"WebAssembly.Suspending", "*", "", "same"},
	{"WebAssembly.Suspending.prototype", "*", "", "same"},
	{"WebAssembly.SuspendError", "*", "", "same"},
	{"WebAssembly.SuspendError.prototype", "*", "", "same"},
}

// Every global has the members that it has in production: none of our internals, and none that production lacks, except those that
// memberDifferences explains.
func TestMembers(t *testing.T) {
	code, err := os.ReadFile("testdata/members.js")
	if err != nil {
		t.Fatal(err)
	}
	peer, err := os.ReadFile("testdata/members-workerd.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, answer := get(t, serve(t, mustStart(t, string(code), pagesruntime.WorkerOptions{})), "/")
	want, got := membersOf(string(peer)), membersOf(answer)
	for _, d := range memberDifferences {
		edit := func(keys, other map[string][]string, change, what string) {
			listed := strings.Fields(change)
			if change == "*" {
				if _, ok := other[d.what]; ok {
					t.Errorf("%s: is on both sides, and not %s", d.what, what)
				}
				if _, ok := keys[d.what]; !ok {
					t.Errorf("%s is not %s any more", d.what, what)
				}
				delete(keys, d.what)
				return
			}
			for _, key := range listed {
				if !slices.Contains(keys[d.what], key) || slices.Contains(other[d.what], key) {
					t.Errorf("%s: %s is not %s any more", d.what, key, what)
				}
			}
			if len(listed) == 0 {
				return
			}
			keys[d.what] = slices.DeleteFunc(keys[d.what], func(key string) bool { return slices.Contains(listed, key) })
		}
		edit(want, got, d.absent, "absent")
		edit(got, want, d.added, "added")
	}
	for what, keys := range want {
		if _, ok := got[what]; !ok {
			t.Errorf("%s is absent; workerd has %q", what, keys)
		}
	}
	for what, keys := range got {
		there, ok := want[what]
		if !ok {
			t.Errorf("%s is not in workerd: %q", what, keys)
		}
		for _, key := range keys {
			if ok && !slices.Contains(there, key) {
				t.Errorf("%s has %s, which workerd lacks", what, key)
			}
		}
		for _, key := range there {
			if !slices.Contains(keys, key) {
				t.Errorf("%s lacks %s, which workerd has", what, key)
			}
		}
	}
}

// membersOf reads lines of a name, a colon and keys.
func membersOf(text string) map[string][]string {
	out := map[string][]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		what, keys, _ := strings.Cut(lines.Text(), ":")
		out[what] = strings.Fields(keys)
	}
	return out
}
