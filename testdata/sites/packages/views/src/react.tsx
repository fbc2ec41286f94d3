/** @jsxRuntime automatic @jsxImportSource react */
import { cache, createContext, Suspense, use, useId, useState } from "react";
import { renderToReadableStream, renderToString } from "react-dom/server";

const Theme = createContext("light");

function Item({ text }: { text: string }) {
  const [value] = useState(() => text.toUpperCase()), id = useId();
  return <li id={id} className={use(Theme)} style={{ marginTop: 4, WebkitLineClamp: 2 }} tabIndex={1} onClick={() => {}}>{value} {text}</li>;
}

function Page({ children }: { children?: React.ReactNode }) {
  return <html lang="en"><head><title>Boats</title></head><body><Theme value="dark"><ul><Item text="heron" /><Item text={'<wren & "b">'} /></ul><label htmlFor="a">A</label><input defaultValue="a&b" readOnly />{children}</Theme></body></html>;
}

/** https://react.dev/reference/react-dom/server/renderToReadableStream */
export async function react() {
  const late = new Promise<string>((resolve) => setTimeout(resolve, 10, "later"));
  const Late = () => <b>{use(late)}</b>;
  const errors: string[] = [];
  const Broken = (): never => { throw new Error("no such boat"); };
  const stream = await renderToReadableStream(<Page><Suspense fallback={<i>waiting</i>}><Late /></Suspense><Suspense fallback={<i>gone</i>}><Broken /></Suspense></Page>, { bootstrapModules: ["/main.js"], nonce: "n", onError: (error) => void errors.push((error as Error).message) });
  const shell = stream.getReader();
  const decoder = new TextDecoder(), chunks: string[] = [];
  for (;;) {
    const { done, value } = await shell.read();
    if (done) break;
    chunks.push(decoder.decode(value));
  }
  const whole = await renderToReadableStream(<Page><Late /></Page>);
  await whole.allReady;
  return {
    html: renderToString(<Page />), streamed: chunks.length > 1, fallbackFirst: chunks[0].includes("<i>waiting</i>") && !chunks[0].includes("<b>later</b>"),
    then: chunks.slice(1).join("").includes("<b>later</b>"), script: /<script type="module"[^>]*>/.exec(chunks.join(""))?.[0], errors,
    ready: (await new Response(whole).text()).includes("<b>later</b>"),
  };
}
