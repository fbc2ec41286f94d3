package webtest

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
)

// shape is code that lists the Web IDL properties of a class: its name, length and tag, its members with their lengths (get and set for
// attributes), and their faults.
const shape = `
function shape(name) {
  const own = Object.getOwnPropertyDescriptor(globalThis, name), cls = own?.value, faults = [], out = [];
  if (cls === undefined) return name + " is absent";
  if (own.enumerable || !own.writable || !own.configurable) faults.push("global");
  if (cls.name !== name) faults.push("name " + cls.name);
  if (cls.prototype[Symbol.toStringTag] !== name) faults.push("tag");
  if (Object.getOwnPropertyDescriptor(cls, "prototype")?.writable !== false) faults.push("prototype");
  const refuses = (f, what) => {
    try {
      f();
      faults.push(what + " takes a foreign object");
    } catch (e) { if (!(e instanceof TypeError)) faults.push(what + " throws " + e); }
  };
  for (const [where, of] of [["", cls.prototype], ["static ", cls]]) {
    for (const key of Object.getOwnPropertyNames(of).sort()) {
      if (key === "constructor" || where && ["length", "name", "prototype"].includes(key)) continue;
      const d = Object.getOwnPropertyDescriptor(of, key);
      if (!d.enumerable) faults.push(key + " is not enumerable");
      if (d.get) {
        out.push(where + key + (d.set ? "=" : ""));
        if (!where) refuses(() => d.get.call({}), key);
      } else if (typeof d.value === "function") {
        out.push(where + key + "/" + d.value.length);
        if (!where && key !== "toString") {
          try {
            const p = d.value.apply({}, [1, 2, 3]);
            if (p instanceof Promise) p.catch(() => {}); else faults.push(key + " takes a foreign object");
          } catch (e) { if (!(e instanceof TypeError)) faults.push(key + " throws " + e); }
        }
      } else out.push(where + key + ":" + d.value);
    }
  }
  const parent = Object.getPrototypeOf(cls).name;
  const head = name + "/" + cls.length + (parent ? " < " + parent : "") + ": ";
  return head + out.join(" ") + (faults.length ? " FAULTS " + faults.join(", ") : "");
}`

// Shapes compares classes with the output of shape.
func Shapes(t *testing.T, want ...string) {
	t.Helper()
	names := make([]string, 0, len(want))
	for _, line := range want {
		name, _, _ := strings.Cut(line, "/")
		names = append(names, name)
	}
	w := Serve(t, shape+`
export default { fetch(request) {
  return new Response(new URL(request.url).search.slice(1).split(",").map(shape).join("\n"));
} };`, web.Options{})
	_, got := w.Get("/?" + strings.Join(names, ","))
	for i, line := range strings.Split(got, "\n") {
		if line != want[i] {
			t.Errorf("\n got %s\nwant %s", line, want[i])
		}
	}
}
