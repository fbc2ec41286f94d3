import MarkdownIt from "markdown-it";
import { Marked, marked as markedLib } from "marked";
import rehypeSanitize from "rehype-sanitize";
import rehypeStringify from "rehype-stringify";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified as pipeline } from "unified";

const text = '# Boats & oars\n\nA *fast* **boat**, `code`, <b>html</b> and https://example.com.\n\n| a | b |\n|---|:-:|\n| 1 | ~~2~~ |\n\n- [x] done\n- [ ] open\n\n1. one\n   > quoted\n\n```js\na < b;\n```\n\n[link](https://example.com "title") ![img](a.png)<script>x</script>\n';

/** https://marked.js.org */
export async function marked() {
  const own = new Marked({
    renderer: { heading({ tokens, depth }) { return `<h${depth} id="${this.parser.parseInline(tokens).toLowerCase().replace(/[^a-z]+/g, "-")}">${this.parser.parseInline(tokens)}</h${depth}>\n`; } },
    extensions: [{ name: "mention", level: "inline", start: (src) => src.indexOf("@"), tokenizer(src) { const m = /^@(\w+)/.exec(src); return m ? { type: "mention", raw: m[0], who: m[1] } : undefined; }, renderer: (token) => `<a href="/u/${token.who}">@${token.who}</a>` }],
    async: true,
    walkTokens: async (token) => { if (token.type === "link") token.href += "?ref"; },
  });
  return { html: markedLib.parse(text), inline: markedLib.parseInline("**a** _b_"), own: await own.parse("# Hi there\n\nHello @jane, [x](y)"), tokens: markedLib.lexer(text).map((token) => token.type) };
}

/** https://github.com/markdown-it/markdown-it#readme */
export function markdownIt() {
  const md = new MarkdownIt({ html: false, linkify: true, typographer: true, highlight: (code, lang) => `<pre class="${lang}">${code.length}</pre>` });
  md.renderer.rules.link_open = (tokens, i, options, _env, self) => {
    tokens[i].attrSet("target", "_blank");
    return self.renderToken(tokens, i, options);
  };
  return { html: md.render(text), inline: md.renderInline('"quoted" -- (c) __x__...'), tokens: md.parse("# a", {}).map((token) => token.type) };
}

/** https://github.com/unifiedjs/unified#readme, with https://github.com/remarkjs/remark-gfm */
export async function unified() {
  const file = await pipeline().use(remarkParse).use(remarkGfm).use(remarkRehype).use(rehypeSanitize).use(rehypeStringify).process(text + "\nA note[^1]\n\n[^1]: the note\n");
  return { html: `${file}` };
}
