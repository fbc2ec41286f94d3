import { renderToString, renderToStringAsync, renderToStream } from "solid-js/web";
import { App, Later } from "./generated/boats.solid.js";

/** https://docs.solidjs.com/reference/rendering/render-to-string-async */
export async function solid() {
  const chunks: string[] = [];
  await new Promise<void>((resolve) => renderToStream(() => Later({ ms: 5 })).pipe({ write: (text) => void chunks.push(text), end: resolve }));
  return { html: renderToString(() => App({ name: "<Jane>" })), later: await renderToStringAsync(() => Later({ ms: 5 })), streamed: chunks.join("").includes("arrived") };
}
