import * as Automerge from "@automerge/automerge";

// Its module throws and catches: it is Rust that unwinds.
export function automerge() {
  let mine = Automerge.from({ title: "list", items: [{ name: "milk", done: false }], count: new Automerge.Counter(1) });
  let theirs = Automerge.clone(mine);
  mine = Automerge.change(mine, (doc) => {
    doc.items.push({ name: "bread ⛵", done: true });
    doc.count.increment(2);
  });
  theirs = Automerge.change(theirs, (doc) => {
    doc.items[0].done = true;
    doc.title = "shopping";
    doc.count.increment(5);
  });
  const merged = Automerge.merge(mine, theirs), again = Automerge.load(Automerge.save(merged));
  const refused = (run) => {
    try {
      return run();
    } catch (error) {
      return `${error.name}: ${error.message}`;
    }
  };
  return {
    doc: JSON.stringify(again), heads: Automerge.getHeads(again).length, changes: Automerge.getHistory(again).length,
    load: refused(() => Automerge.load(new Uint8Array([1, 2, 3, 4]))),
    insert: refused(() => Automerge.change(again, (doc) => doc.items.insertAt(99, "x"))),
  };
}
