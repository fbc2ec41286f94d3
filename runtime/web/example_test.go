package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/console"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// A Worker serves one request; its console lines go to the function in the options.
func ExampleHost_Serve() {
	b, err := webtest.Boot() // an engine and the image of the prelude
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	host := web.New(web.Options{Console: func(_ *engine.Scope, e console.Entry) { fmt.Println(e.Level, e.Text) }})
	defer host.Close()
	isolate, err := b.Engine.NewIsolate(ctx, b.Image, engine.IsolateOptions{Funcs: host.Funcs(), Modules: web.Modules(), OnIdle: host.Idle})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer isolate.Close()

	start := engine.NewScope(ctx, 0, nil) // no request is served: I/O is refused
	err = isolate.Do(start, func(vm *engine.VM) error {
		module, err := vm.Import(engine.Source{Name: "worker.js", Code: `export default {
			async fetch(request) {
				console.log("asked for", new URL(request.url).pathname);
				return Response.json({ hello: await request.text() });
			},
		};`})
		if err == nil {
			_, err = vm.Call("start", module, "{}")
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/greet", http.NoBody)
	x := web.NewExchange(w, r)
	scope := engine.NewScope(ctx, 0, x)
	defer scope.End(nil)
	err = host.Serve(isolate, scope, x)
	<-x.Done()
	fmt.Println(w.Code, w.Header().Get("Content-Type"), w.Body, err)
	// Output:
	// log asked for /greet
	// 200 application/json {"hello":""} <nil>
}
