package devsession

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/manifest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

func (b *builder) startWorker(
	ctx context.Context, m *manifest.Manifest, w *bundler.Worker, secrets map[string]string,
) (*siteworker.Shared, error) {
	rt, err := b.run.runtimes.wait()
	if err != nil {
		return nil, err
	}
	set, err := b.stores.Bindings(ctx, m, b.site, secrets, b.front.AssetsHandler())
	if err != nil {
		return nil, err
	}
	mask := siteworker.MaskOf(secrets)
	o := siteworker.Options(m)
	o.Name, o.Code, o.Map, o.Wasm, o.Bindings = w.Name, w.Code, w.Map, map[string][]byte{}, set
	for _, module := range w.Modules {
		o.Wasm[module.Specifier] = module.Bytes
	}
	o.Compiling = func() func() { return b.console.wait(compiling(w.Modules)) }
	o.Limits.Mode, o.Limits.CPUScale = pagesruntime.LimitMode(b.run.options.Limits), b.run.options.CPUScale
	o.Pristine = b.run.options.Isolation == "request"
	o.MapStacks = true
	o.HideMeter = func(r *http.Request) bool { return loopback.VisitOf(r.Context()) != nil }
	o.Logger = b.console.logger()
	o.Console = func(l pagesruntime.Line) { b.console.log(siteworker.MaskLine(mask, l)) }
	o.Web.AllowFetch, o.Web.Self, o.Web.IsSelf = b.run.options.AllowFetch, b.front, b.isSelf
	o.Web.Caches, o.Web.Now, o.Web.Logger = b.caches, b.run.process.Terminal.Now, o.Logger
	worker, err := rt.NewWorker(ctx, o)
	if err != nil {
		return nil, errors.Join(siteworker.MaskError(mask, err), siteworker.CloseDatabases(set))
	}
	metered := m.Limits
	metered.CPUMs = max(1, int(float64(metered.CPUMs)*b.run.options.CPUScale))
	return b.live.Add(b.until, worker, set, metered, mask), nil
}

func (b *builder) replace(w *siteworker.Shared) {
	if b.running != nil {
		b.running.Retire()
	}
	if b.running = w; w != nil {
		w.Uses.Add(1)
	}
}

// compiling says what is done before a Worker with WebAssembly modules starts.
func compiling(modules []bundler.Module) string {
	bytes := int64(0)
	for _, m := range modules {
		bytes += int64(len(m.Bytes))
	}
	what := wording.Count(len(modules), "WebAssembly module")
	if len(modules) == 1 {
		_, what, _ = strings.Cut(modules[0].Specifier, "-") // behind the hash
	}
	return fmt.Sprintf("compiling %s (%s), which takes long the first time", wording.Printable(what), wording.Size(bytes))
}

// workerKey identifies Workers: of two with the same key, the running one can stay.
func workerKey(m *manifest.Manifest, w *bundler.Worker, secrets map[string]string) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	// Encoding plain data into a hash cannot fail.
	_ = errors.Join(enc.Encode(m.Bindings), enc.Encode(m.Limits), enc.Encode(m.Runtime), enc.Encode(secrets))
	h.Write(w.Code)
	h.Write(w.Map)
	return hex.EncodeToString(h.Sum(nil))
}

// isSelf reports whether the host of a URL, with its port if it has one, is this dev server: one of its names on its own
// port, or without a port the name of a tunnel to it.
func (b *builder) isSelf(host string) bool {
	u := url.URL{Host: host}
	if u.Port() == "" {
		return slices.Contains(b.run.options.AllowHosts, u.Hostname())
	}
	return u.Port() == strconv.Itoa(b.run.sockets.Port) && b.run.answersTo(u.Hostname())
}
