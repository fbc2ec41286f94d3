import initYoga from "yoga-wasm-web";
import wasm from "yoga-wasm-web/dist/yoga.wasm";

const ready = initYoga(wasm);

export async function yoga() {
  const Yoga = await ready;
  const root = Yoga.Node.create();
  root.setWidth(300);
  root.setHeight(100);
  root.setFlexDirection(Yoga.FLEX_DIRECTION_ROW);
  root.setJustifyContent(Yoga.JUSTIFY_SPACE_BETWEEN);
  for (let n = 0; n < 3; n++) {
    const child = Yoga.Node.create();
    child.setWidth(50);
    root.insertChild(child, n);
  }
  root.calculateLayout(300, 100, Yoga.DIRECTION_LTR);
  const lefts = [0, 1, 2].map((n) => root.getChild(n).getComputedLeft());
  root.freeRecursive();
  return { lefts: lefts.join() };
}
