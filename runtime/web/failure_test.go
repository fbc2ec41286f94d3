package web_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestAbsent(t *testing.T) {
	names := strings.Fields(`FetchEvent ScheduledEvent`)
	w := webtest.Serve(t, webtest.Handler(`const names = ["`+strings.Join(names, `","`)+`"];
		return new Response([typeof Response, ...names.map((name) => typeof globalThis[name])].join())`), web.Options{})
	if _, got := w.Get("/"); got != "function"+strings.Repeat(",undefined", len(names)) {
		t.Errorf("globals listed as absent exist: %s", got)
	}
	for _, name := range names {
		if !web.Absent(name) {
			t.Errorf("%s is absent", name)
		}
	}
	for _, name := range []string{"", "Response", "document", "myVariable"} {
		if web.Absent(name) {
			t.Errorf("%q is not an absent global of the platform", name)
		}
	}
}

// An error of the engine names the absent global; an author's own error does not.
func TestAbsentIn(t *testing.T) {
	for code, want := range map[string]string{
		`new FetchEvent("fetch")`:                  "FetchEvent",
		`await new ScheduledEvent()`:               "ScheduledEvent",
		`mine()`:                                   "",
		`throw new Error("caches is not defined")`: "",
	} {
		t.Run(code, func(t *testing.T) {
			w := webtest.Serve(t, webtest.Handler(code), web.Options{})
			w.Get("/")
			failure, ok := errors.AsType[*web.Failure](w.Errors()[0])
			if !ok {
				t.Fatalf("%s: %v", code, w.Errors())
			}
			if got := web.AbsentIn(failure.Err); got != want {
				t.Errorf("%s: %q, want %q", code, got, want)
			}
		})
	}
	_, err := webtest.Start(t, `const event = new FetchEvent("fetch"); export default { fetch() {} };`, web.Options{})
	thrown, ok := errors.AsType[*engine.Error](err)
	if !ok || web.AbsentIn(thrown) != "FetchEvent" {
		t.Errorf("while loading: %v", err)
	}
}
