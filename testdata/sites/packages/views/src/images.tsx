/** @jsxRuntime automatic @jsxImportSource react */
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import resvg from "@resvg/resvg-wasm/index_bg.wasm";
import satori, { init } from "satori/wasm";
import initYoga from "yoga-wasm-web";
import yoga from "yoga-wasm-web/dist/yoga.wasm";

let ready: Promise<unknown> | undefined;

/** A picture for link previews, as https://github.com/vercel/satori/tree/0.15.2#runtime-and-wasm and https://github.com/yisibl/resvg-js#webassembly show it. */
export async function picture(request: Request, env: { ASSETS: Fetcher }) {
  await (ready ??= Promise.all([initYoga(yoga).then(init), initWasm(resvg)]));
  const font = await (await env.ASSETS.fetch(new URL("/inter.woff", request.url))).arrayBuffer();
  const svg = await satori(
    <div style={{ display: "flex", flexDirection: "column", width: "100%", height: "100%", background: "#123456", color: "white", padding: 10 }}>
      <div style={{ display: "flex", fontSize: 20 }}>Boats & oars of the river club</div>
      <div style={{ display: "flex", marginTop: 6, width: 50, height: 10, background: "red", borderRadius: 3 }} />
    </div>,
    { width: 200, height: 100, fonts: [{ name: "Inter", data: font, weight: 400, style: "normal" }] },
  );
  const image = new Resvg(svg).render(), pixels = image.pixels, png = image.asPng();
  const at = (x: number, y: number) => [...pixels.slice((y * 200 + x) * 4, (y * 200 + x) * 4 + 4)].join();
  let light = 0;
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i] > 128 && pixels[i + 1] > 128) light++;
  return { start: svg.slice(0, 95), paths: svg.split("<path").length - 1, size: [image.width, image.height], corner: at(1, 1), red: [...new Set(Array.from({ length: 100 }, (_, y) => at(30, y)))].includes("255,0,0,255"), text: light > 200, png: [...png.slice(0, 4)] };
}
