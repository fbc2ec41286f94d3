// Lit's builds for browsers, which the condition "browser" picks in every bundler of Workers, ask for a
// document and for elements when they are loaded; its builds for Node.js make do with these.
import { customElements, HTMLElement } from "@lit-labs/ssr-dom-shim";

Object.assign(globalThis, { CSSStyleSheet: class {}, customElements, HTMLElement, document: { createTreeWalker: () => ({}) } });
