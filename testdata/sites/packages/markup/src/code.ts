import { createHighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { createOnigurumaEngine } from "shiki/engine/oniguruma";
import javascript from "@shikijs/langs/javascript";
import json from "@shikijs/langs/json";
import nord from "@shikijs/themes/nord";
import onig from "shiki/onig.wasm";

const themes = [nord], text = 'const a = 1; // one\nexport function* gen() { yield /r[e]+/g.test("x") ? a : "b"; }';

/** https://shiki.style/guide/install#cloudflare-workers, and the other engine of https://shiki.style/guide/regex-engines */
export async function shiki() {
  const wasm = await createHighlighterCore({ themes, langs: [javascript, json], engine: createOnigurumaEngine(onig) });
  const own = await createHighlighterCore({ themes, langs: [json], engine: createJavaScriptRegexEngine() });
  const data = '{ "a": [1.5, null, "x\\n"] }', as = { lang: "json", theme: "nord", tokenizeTimeLimit: 0 };
  // Shiki gives up on a line after half a second, which compiling a grammar the first time may take.
  return {
    html: wasm.codeToHtml(text, { lang: "javascript", theme: "nord", tokenizeTimeLimit: 0 }), same: wasm.codeToHtml(data, as) === own.codeToHtml(data, as),
    tokens: own.codeToTokensBase(data, as)[0].map((token) => `${token.content}|${token.color}`),
  };
}
