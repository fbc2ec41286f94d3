import * as cheerioLib from "cheerio";
import { DOMParser, parseHTML } from "linkedom/worker";
import TurndownService from "turndown";

/** https://cheerio.js.org/docs/intro */
export function cheerio() {
  const $ = cheerioLib.load('<h2 class="title">Hello world</h2><ul id="fruits"><li class="apple">Apple</li><li>Orange</li></ul>');
  $("h2.title").text("Hello there!").addClass("welcome");
  $("#fruits").append($("<li>").attr("data-n", "3").text("Pear & plum"));
  return {
    html: $.html(), classes: $("li:first-child").attr("class"), last: $("li").last().data("n"),
    list: $("li").map((_, el) => $(el).text()).get(), odd: $("li:nth-child(odd), h2").length,
    extracted: $.extract({ title: "h2", items: ["li"] }), xml: cheerioLib.load("<a><b/></a>", { xml: true }).xml(),
    table: cheerioLib.load("<table><tr><td>1<td>2</table>", null, false).html(),
  };
}

/** https://github.com/WebReflection/linkedom#readme */
export function linkedom() {
  const { document, customElements, HTMLElement, Event } = parseHTML('<!doctype html><html lang="en"><head><title>Hello</title></head><body><form><input name="user"><button>Submit</button></form></body></html>');
  customElements.define("custom-element", class extends HTMLElement {
    static get observedAttributes() { return ["who"]; }
    attributeChangedCallback(_name: string, _old: string, value: string) { this.textContent = `hello ${value}`; }
  });
  const element = document.createElement("custom-element");
  element.setAttribute("who", "there");
  document.body.append(element);
  const heard: string[] = [];
  document.addEventListener("click", (event: Event) => heard.push((event.target as Element).tagName));
  document.querySelector("form > button")!.dispatchEvent(new Event("click", { bubbles: true }));
  document.querySelector("input")!.setAttribute("value", 'a"b');
  document.title += "!";
  const svg = new DOMParser().parseFromString('<svg xmlns="http://www.w3.org/2000/svg"><g id="x"/></svg>', "image/svg+xml");
  return { html: document.toString(), heard, cloned: document.body.cloneNode(true).childNodes.length, svg: svg.getElementById("x")!.tagName };
}

/** https://github.com/mixmark-io/turndown#readme, which needs a document: linkedom's */
export function turndown() {
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
  service.addRule("strikethrough", { filter: ["del", "s"], replacement: (content) => `~~${content}~~` });
  const { document } = parseHTML("<html><body><h1>Hello *world*</h1><p>A <a href=\"https://example.com\" title=\"t\">link</a>, <em>em</em> &amp; <del>old</del></p><ol><li>one</li><li>two<ul><li>deep</li></ul></li></ol><pre><code class=\"language-js\">a &lt; b\n</code></pre></body></html>");
  return { markdown: service.turndown(document.body as unknown as TurndownService.Node) };
}
