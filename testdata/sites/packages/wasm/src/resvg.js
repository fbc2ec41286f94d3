import { Resvg, initWasm } from "@resvg/resvg-wasm";
import wasm from "@resvg/resvg-wasm/index_bg.wasm";

const ready = initWasm(wasm);

export async function resvg() {
  await ready;
  const drawing = new Resvg(`<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10" fill="#123456"/></svg>`, { fitTo: { mode: "width", value: 200 } });
  const image = drawing.render();
  const { width, height, pixels } = image;
  return { size: `${width}x${height}`, pixel: [...pixels.slice(0, 4)].join(), head: [...image.asPng().subarray(1, 4)].join() };
}
