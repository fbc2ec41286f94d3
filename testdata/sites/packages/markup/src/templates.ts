import Handlebars from "handlebars";
import Runtime from "handlebars/runtime";
import Mustache from "mustache";
import cart from "./cart.precompiled.js";

/** https://github.com/janl/mustache.js#readme */
export function mustache() {
  const view = { title: "Joe & co", calc: () => 2 + 4, names: [{ name: "a" }, { name: "b" }], none: [], bold: () => (text: string, render: (t: string) => string) => `<b>${render(text)}</b>` };
  return { text: Mustache.render("{{title}} {{{title}}} spends {{calc}}\n{{#names}}\n  {{> item}}\n{{/names}}\n{{^none}}nothing{{/none}} {{#bold}}Hi {{title}}.{{/bold}}{{! gone }} {{=<% %>=}}<% title %>", view, { item: "- {{name}}\n" }) };
}

/** https://handlebarsjs.com/installation/precompilation.html: what the command `handlebars` makes of a template runs on the runtime alone */
export function handlebars() {
  Runtime.registerHelper("loud", (text: string) => text.toUpperCase());
  Runtime.registerHelper("link", (text: string, options: Handlebars.HelperOptions) => new Runtime.SafeString(`<a href="${Runtime.escapeExpression(options.hash.href)}">${text}</a>`));
  Runtime.registerPartial("row", Runtime.template(cart.row));
  return { html: Runtime.template(cart.cart)({ name: "<Jane>", items: [{ what: "oar", n: 2 }, { what: "rope", n: 0 }], home: "/?a=1&b" }) };
}

/** A template compiled at run time is code from a string, which the platform refuses. */
export function handlebarsCompile() {
  try {
    return { html: Handlebars.compile("Hello {{name}}")({ name: "x" }) };
  } catch (error) {
    return { refused: `${error}`, parsed: Handlebars.parse("Hello {{name}}").body.length, precompiled: typeof Handlebars.precompile("Hello {{name}}") };
  }
}
