import { chunk, debounce, groupBy, isEqual, merge, template, unionBy } from "es-toolkit/compat";
import { toSnakeCaseKeys } from "es-toolkit";
import { camelCase, cloneDeep, get, orderBy, throttle, zipObjectDeep } from "lodash-es";
import Fuse from "fuse.js";
import MiniSearch from "minisearch";

/** https://www.fusejs.io/ */
export function fuse() {
  const list = [{ title: "Old Man's War", author: { firstName: "John", lastName: "Scalzi" } }, { title: "The Lock Artist", author: { firstName: "Steve", lastName: "Hamilton" } }];
  const found = new Fuse(list, { keys: ["title", "author.firstName"], includeScore: true, includeMatches: true }).search("jon");
  return found.map((f) => [f.item.title, f.refIndex, f.score!.toFixed(4), f.matches!.length]);
}

/** https://github.com/lucaong/minisearch#readme */
export function miniSearch() {
  const index = new MiniSearch({ fields: ["title", "text"], storeFields: ["title", "category"] });
  index.addAll([
    { id: 1, title: "Moby Dick", text: "Call me Ishmael. Some years ago...", category: "fiction" },
    { id: 2, title: "Zen and the Art of Motorcycle Maintenance", text: "I can see by my watch...", category: "fiction" },
    { id: 3, title: "Neuromancer", text: "The sky above the port was...", category: "fiction" },
    { id: 4, title: "Zen and the Art of Archery", text: "At first sight it must seem...", category: "non-fiction" },
  ]);
  const loaded = MiniSearch.loadJSON(JSON.stringify(index), { fields: ["title", "text"], storeFields: ["title", "category"] });
  return {
    art: index.search("zen art motorcycle").map((r) => [r.id, r.score.toFixed(6), r.terms.join()]),
    fuzzy: loaded.search("ismael", { fuzzy: 0.2 }).map((r) => r.title),
    prefix: index.search("moto", { prefix: true, filter: (r) => r.category === "fiction" }).length,
    suggest: index.autoSuggest("zen ar").map((s) => s.suggestion),
  };
}

/** https://lodash.com/docs */
export async function lodash() {
  const deep = { a: [{ b: { c: 3 } }], d: new Map([[1, new Date(0)]]) };
  const copy = cloneDeep(deep);
  let calls = 0;
  const throttled = throttle(() => ++calls, 5);
  throttled();
  throttled();
  await new Promise((resolve) => setTimeout(resolve, 30));
  return {
    get: get(deep, "a[0].b.c"), camel: camelCase("--foo-bar--"), zip: zipObjectDeep(["a.b[0].c", "a.b[1].d"], [1, 2]),
    ordered: orderBy([{ u: "fred", a: 48 }, { u: "barney", a: 34 }, { u: "fred", a: 40 }], ["u", "a"], ["asc", "desc"]).map((x) => x.a),
    copied: copy.d !== deep.d && copy.d.get(1)!.getTime() === 0, calls,
  };
}

/** https://es-toolkit.dev/usage.html */
export async function esToolkit() {
  let calls = 0;
  const debounced = debounce(() => ++calls, 5);
  debounced();
  debounced();
  await new Promise((resolve) => setTimeout(resolve, 30));
  let refused = "";
  try {
    template("hello <%= user %>!")({ user: "fred" });
  } catch (error) {
    refused = `${error}`;
  }
  return {
    chunk: chunk([1, 2, 3, 4, 5], 2), grouped: groupBy([6.1, 4.2, 6.3], Math.floor), equal: isEqual({ a: new Set([1]) }, { a: new Set([1]) }),
    merged: merge({ a: [{ b: 2 }, { d: 4 }] }, { a: [{ c: 3 }, { e: 5 }] }), union: unionBy([2.1], [1.2, 2.3], Math.floor),
    snake: toSnakeCaseKeys({ userId: 1, nested: { fullName: "x" } }), calls, refused,
  };
}
