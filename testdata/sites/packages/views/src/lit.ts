import "./document.ts";
import { render } from "@lit-labs/ssr";
import { collectResult } from "@lit-labs/ssr/lib/render-result.js";
import { css, html, LitElement, nothing } from "lit";
import { classMap } from "lit/directives/class-map.js";
import { repeat } from "lit/directives/repeat.js";
import { unsafeHTML } from "lit/directives/unsafe-html.js";

// Other packages take a document for a browser.
Reflect.deleteProperty(globalThis, "document");

class BoatCard extends LitElement {
  static properties = { name: { type: String, reflect: true } };
  static styles = css`:host { color: red }`;
  declare name: string;
  render() { return html`<p>${this.name}</p><slot></slot>`; }
}
customElements.define("boat-card", BoatCard);

const card = (name: string) => html`<article class=${classMap({ card: true, big: name.length > 4 })} ?hidden=${name === ""} .title=${name} @click=${() => {}}>${name}</article>`;

/** https://lit.dev/docs/ssr/server-usage/ */
export async function lit() {
  const page = html`<h1>Boats ${"& <oars>"}</h1>${repeat(["heron", "wren"], card)}${nothing}${unsafeHTML("<i>raw</i>")}<input value=${'a"b'}><boat-card .name=${"Grebe"}>in</boat-card>`;
  return { html: await collectResult(render(page)) };
}
