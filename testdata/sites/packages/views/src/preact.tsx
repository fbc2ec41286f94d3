/** @jsxRuntime automatic @jsxImportSource preact */
import { createContext, Fragment } from "preact";
import { useContext, useErrorBoundary, useId, useMemo, useState } from "preact/hooks";
import { lazy, Suspense } from "preact/compat";
import { renderToStringAsync } from "preact-render-to-string";
import { render } from "preact-render-to-string";
import { renderToReadableStream } from "preact-render-to-string/stream";

const Theme = createContext("light");

function Item({ text, n }: { text: string; n: number }) {
  const [count] = useState(n), theme = useContext(Theme), double = useMemo(() => count * 2, [count]);
  return <li class={`item ${theme}`} style={{ marginTop: 4, color: "red" }} data-n={double} onClick={() => {}}>{text}</li>;
}

const App = () => (
  <Theme.Provider value="dark">
    <h1>Boats & "oars" {"<b>"}</h1>
    <ul><Item text="heron" n={2} /><Fragment key="x"><Item text="wren" n={3} /></Fragment></ul>
    <input value='a"b' disabled checked={false} /><p dangerouslySetInnerHTML={{ __html: "<i>raw</i>" }} />
    <svg viewBox="0 0 1 1"><path stroke-width={2} /></svg>{null}{false}{0}
  </Theme.Provider>
);

/** https://github.com/preactjs/preact-render-to-string#readme */
export async function preact() {
  const Later = lazy(async () => ({ default: () => <b>later</b> }));
  const waiting = <Suspense fallback={<i>waiting</i>}><Later /></Suspense>;
  return { html: render(<App />), later: await renderToStringAsync(waiting), streamed: (await new Response(renderToReadableStream(<div><App /></div>)).text()).length };
}
