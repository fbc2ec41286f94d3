// What the packages' own documentation shows first. workerd.json has what workerd gave.
import semver from "semver";
import lodash from "lodash";
import underscore from "underscore";
import * as R from "ramda";
import async from "async";
import moment from "moment";
import * as jsyaml from "js-yaml";
import ini from "ini";
import { stringify } from "csv-stringify/sync";
import { stringify as stringifyStream } from "csv-stringify";
import xml2js from "xml2js";
import sax from "sax";
import * as parse5 from "parse5";
import * as htmlparser2 from "htmlparser2";
import { selectAll, selectOne } from "css-select";
import postcss from "postcss";
import * as acorn from "acorn";
import escodegen from "escodegen";
import ejs from "ejs";
import { Liquid } from "liquidjs";
import hljs from "highlight.js/lib/common";
import Prism from "prismjs";
import katex from "katex";
import * as math from "mathjs";
import { Decimal } from "decimal.js";
import BigNumber from "bignumber.js";
import Big from "big.js";
import BN from "bn.js";
import { answering } from "./answer.js";

const topics = {
  semver: () => [
    semver.valid("1.2.3"),
    semver.valid("a.b.c"),
    semver.clean("  =v1.2.3   "),
    semver.satisfies("1.2.3", "1.x || >=2.5.0 || 5.0.0 - 7.2.3"),
    semver.gt("1.2.3", "9.8.7"),
    semver.minVersion(">=1.0.0").version,
    semver.valid(semver.coerce("v2")),
    semver.sort(["1.0.0", "1.0.0-rc.1", "0.9.9"]),
    semver.intersects("^1.2", "~1.3"),
    new semver.Range("^1.2.3-beta").format(),
  ],
  lodash: () => {
    const _ = lodash;
    return [
      _.defaults({ a: 1 }, { a: 3, b: 2 }),
      _.partition([1, 2, 3, 4], (n) => n % 2),
      _.groupBy([6.1, 4.2, 6.3], Math.floor),
      _.debounce(() => 1, 10).cancel() ?? "debounced",
      _.camelCase("Foo Bar"),
      _.get({ a: [{ b: { c: 3 } }] }, "a[0].b.c"),
      _.merge({ a: [{ b: 2 }, { d: 4 }] }, { a: [{ c: 3 }, { e: 5 }] }),
      _.isEqual(new Map([[1, { a: 2 }]]), new Map([[1, { a: 2 }]])),
      _.words("fred, barney, & pebbles"),
      _.deburr("déjà vu"),
      _.chunk([..."abcd"], 3),
      _.cloneDeep({ d: new Date(0), r: /x/gi, s: new Set([1]) }).r.flags,
      _(["a", "b"]).map(_.upperCase).reverse().value(),
      _.isPlainObject(Object.create(null)),
      _.toString(-0),
      _.sortBy(
        [
          { u: "b", a: 2 },
          { u: "a", a: 1 },
        ],
        ["u"],
      ),
      _.truncate("hi-diddly-ho there, neighborino", { length: 24, separator: " " }),
    ];
  },
  underscore: () => [
    underscore.map([1, 2, 3], (n) => n * 3),
    underscore.sortBy([1, 2, 3, 4, 5, 6], (num) => Math.sin(num)),
    underscore.countBy([1, 2, 3], (n) => (n % 2 ? "odd" : "even")),
    underscore
      .chain([1, 2, 200])
      .filter((n) => n < 100)
      .value(),
    underscore.isEqual({ a: NaN, b: [1] }, { b: [1], a: NaN }),
    underscore.escape("<a & 'b'>"),
  ],
  ramda: () => [
    R.pipe(R.map(R.multiply(2)), R.filter(R.lt(3)), R.sum)([1, 2, 3]),
    R.path(["a", 0, "b"], { a: [{ b: 7 }] }),
    R.groupBy((s) => s.length, ["one", "two", "three"]),
    R.over(R.lensProp("x"), R.inc, { x: 1, y: 2 }),
    R.equals({ a: [1, { b: new Date(5) }] }, { a: [1, { b: new Date(5) }] }),
    R.toString({ a: [1, "x", new Date(0)] }),
    R.curry((a, b, c) => a + b + c)(1)(R.__, 3)(2),
    R.transduce(
      R.compose(
        R.map((x) => x + 1),
        R.take(2),
      ),
      R.flip(R.append),
      [],
      [1, 2, 3, 4],
    ),
  ],
  async: async () => {
    const order = [];
    const auto = await async.auto({ a: async () => 1, b: ["a", async ({ a }) => a + 1], c: ["a", "b", async (r) => r.a + r.b] });
    const q = async.queue(async (n) => {
      await new Promise((f) => setTimeout(f, 3 - n));
      order.push(n);
      return n;
    }, 2);
    q.push([1, 2, 3]);
    await q.drain();
    const w = await new Promise((ok) =>
      async.waterfall([(cb) => cb(null, "one", "two"), (a, b, cb) => cb(null, a + b)], (e, r) => ok(r)),
    );
    let tries = 0;
    const retry = await async.retry({ times: 3, interval: 1 }, async () => {
      if (++tries < 3) throw new Error("no");
      return tries;
    });
    return [auto, order.sort(), w, retry, await async.mapLimit([1, 2, 3], 2, async (x) => x * x)];
  },
  moment: () => {
    const m = moment.utc("2024-02-29T12:34:56.789Z");
    return [
      m.format("dddd, MMMM Do YYYY, h:mm:ss a"),
      m.clone().add(1, "year").format(),
      m.clone().endOf("month").toISOString(),
      moment.duration(90, "minutes").humanize(),
      m.isoWeek(),
      moment.utc("12-25-1995", "MM-DD-YYYY").unix(),
      moment.utc([2010, 1, 14]).from(moment.utc([2010, 1, 12])),
      moment("not a date", "YYYY", true).isValid(),
      m.calendar(moment.utc("2024-03-01")),
    ];
  },
  jsyaml: () => [
    jsyaml.load("a: &x {b: 1, c: [2, '3']}\nd: *x\nt: 2001-12-14t21:59:43.10-05:00\ns: |\n  two\n  lines\nn: ~\n"),
    jsyaml.dump({ a: [1, { b: "x: y" }], d: new Date(0), m: "a\nb\n", n: null, q: "yes" }),
    (() => {
      try {
        jsyaml.load("a: [1,\nb: 2");
      } catch (e) {
        return e.message;
      }
    })(),
  ],
  ini: () => [
    ini.parse(
      "; comment\nscope = global\n[database]\nuser = dbuser\n[paths.default]\narray[] = first value\narray[] = second value\n",
    ),
    ini.stringify({ a: 1, sec: { x: true, list: ["a", "b"] } }, { whitespace: true }),
  ],
  csvStringify: async () => [
    stringify([
      ["1", "2"],
      ["a,b", 'q"x'],
    ]),
    stringify([{ a: 1, b: new Date(0), c: true }], { header: true, cast: { boolean: (v) => (v ? "yes" : "no") } }),
    await new Promise((ok, no) => {
      const s = stringifyStream({ delimiter: ":" });
      let t = "";
      s.on("readable", () => {
        let r;
        while ((r = s.read()) !== null) t += r;
      });
      s.on("error", no);
      s.on("finish", () => {});
      s.on("end", () => ok(t));
      s.write(["root", "x", 0]);
      s.write(["someone", "x", 1022]);
      s.end();
    }),
  ],
  xml2js: async () => [
    await xml2js.parseStringPromise("<root a='1'><item>x</item><item>y</item><e/></root>"),
    new xml2js.Builder().buildObject({ name: "Super", Surname: "Man", list: [{ $: { id: 3 }, _: "t" }] }),
    await xml2js.parseStringPromise("<a><b></a>").catch((e) => e.message),
  ],
  sax: () => {
    const got = [];
    const p = sax.parser(true);
    p.onopentag = (n) => got.push(["open", n.name, n.attributes]);
    p.ontext = (t) => got.push(t);
    p.onclosetag = (n) => got.push(["close", n]);
    p.oncdata = (c) => got.push(["cdata", c]);
    p.write('<xml a="b">Hello, <who name="world">world</who>!<![CDATA[<x>]]>&amp;</xml>').close();
    return got;
  },
  parse5: () => {
    const d = parse5.parse("<!DOCTYPE html><html><head></head><body>Hi <table><tr><td>x<p>there!</body></html>");
    return [
      d.childNodes[1].tagName,
      parse5.serialize(d),
      parse5.serialize(parse5.parseFragment("<li>a<li>b &copy; &notit; <svg><foreignObject><p>x</svg>")),
    ];
  },
  htmlparser2: () => {
    const got = [];
    const p = new htmlparser2.Parser({
      onopentag: (n, a) => got.push([n, a]),
      ontext: (t) => got.push(t),
      onclosetag: (n) => got.push("/" + n),
    });
    p.write("Xyz <script type='text/javascript'>const foo = '<<bar>>';</");
    p.write("script>");
    p.end();
    const dom = htmlparser2.parseDocument("<ul id=a><li class='x y'>1<li>2</ul>");
    return [
      got,
      selectAll("ul > li.x, li:nth-child(2)", dom).length,
      selectOne("li:not(.x)", dom).children[0].data,
      htmlparser2.DomUtils.textContent(dom),
      htmlparser2.parseFeed(
        "<rss version='2.0'><channel><title>T</title><item><title>I</title>" +
          "<pubDate>Thu, 01 Jan 1970 00:00:00 GMT</pubDate></item></channel></rss>",
      ),
    ];
  },
  postcss: async () => {
    const plugin = {
      postcssPlugin: "p",
      Declaration(d) {
        if (d.prop === "color") d.value = "red";
      },
      AtRule: {
        media(r) {
          r.params += " and (x)";
        },
      },
    };
    const r = await postcss([plugin]).process("a{ color: blue; &:hover{b:c} }\n@media screen { b { color: x } }", {
      from: "a.css",
      to: "b.css",
      map: { inline: false },
    });
    let err;
    try {
      postcss.parse("a {", { from: "x.css" });
    } catch (e) {
      err = [e.name, e.line, e.column, e.message, e.showSourceCode(false)];
    }
    return [r.css, r.map?.toString(), Object.keys(r), err, postcss.list.comma("a, b(c, d), e")];
  },
  acorn: () => {
    const ast = acorn.parse(
      "const f = async ({a = 1, ...b}, c) => { for await (const x of c) yield_?.(x ?? 1); }; class A { #p = 1; static { } }",
      { ecmaVersion: "latest", sourceType: "module" },
    );
    return [
      escodegen.generate(acorn.parse("var answer = 6 * 7; if (a) { b('x') } else c => ({d: `t${e}`})", { ecmaVersion: 2020 })),
      JSON.stringify(ast).length,
      (() => {
        try {
          acorn.parse("a b", { ecmaVersion: 2020 });
        } catch (e) {
          return [e.name, e.message, e.pos, e.loc];
        }
      })(),
    ];
  },
  ejs: () => ejs.render("<% if (user) { %><h2><%= user.name %></h2><% } %>", { user: { name: "<x>" } }),
  liquid: async () => {
    const e = new Liquid();
    e.registerFilter("add", (i, a) => i + a);
    return [
      await e.parseAndRender(
        "{{ name | capitalize }} {% for i in (1..3) %}{{ i | add: 10 }},{% endfor %}{{ 'now' | date: '%Y' | size }} " +
          "{% assign a = 'x,y' | split: ',' %}{{ a | join: '-' }} {{ d | date: '%b %d, %y' }}",
        { name: "alice", d: "2015-02-15T00:00:00Z" },
      ),
      await e.parseAndRender("{% if %}").catch((x) => [x.name, x.message]),
    ];
  },
  highlight: () => [
    hljs.highlight("<h1>Hello World!</h1>", { language: "xml" }).value,
    hljs.highlight("const x = async (y) => `a${y}` // c\nclass A extends B { #p }", { language: "javascript" }).value,
    hljs.highlight("def f(x: int) -> str:\n    '''doc'''\n    return f\"{x!r}\"", { language: "python" }).value,
    hljs.highlightAuto("SELECT a FROM b WHERE c = 'd' ORDER BY e;", ["sql", "css", "json"]).language,
    hljs.listLanguages().length,
  ],
  prism: () => [
    Prism.highlight("let x = `a ${b}`; // hi\nfunction f(a) { return /re/g.test(a) }", Prism.languages.javascript, "javascript"),
    Prism.highlight("<a href='x'>y</a><style>a{b:c}</style>", Prism.languages.markup, "markup"),
    Prism.tokenize("a { color: red }", Prism.languages.css).length,
  ],
  katex: () => [
    katex.renderToString("c = \\pm\\sqrt{a^2 + b^2}", { throwOnError: false }),
    katex.renderToString("\\frac{1}{\\sum_{i=0}^n x_i} \\text{é} \\begin{pmatrix}a&b\\\\c&d\\end{pmatrix}", {
      displayMode: true,
      output: "mathml",
    }),
    (() => {
      try {
        katex.renderToString("\\frac{");
      } catch (e) {
        return e.message;
      }
    })(),
  ],
  mathjs: () => [
    math.round(math.e, 3),
    math.atan2(3, -3) / math.pi,
    math.log(10000, 10),
    math.sqrt(math.complex(-4, 0)).toString(),
    math.evaluate("1.2 * (2 + 4.5)").toString(),
    math.evaluate("12.7 cm to inch").toString(),
    math.evaluate("sin(45 deg) ^ 2"),
    math.evaluate("det([-1, 2; 3, 1])"),
    math.derivative("x^2 + x", "x").toString(),
    math.simplify("2x + x").toString(),
    math.format(
      math.inv([
        [1, 2],
        [3, 4],
      ]),
      14,
    ),
    math.evaluate("f(x, y) = x ^ y; f(2, 3)").toString(),
    math.chain(3).add(4).multiply(2).done(),
    math.bignumber("0.1").plus("0.2").toString(),
    math.fraction(1, 3).add(math.fraction(1, 6)).toFraction(),
  ],
  decimal: () => [
    new Decimal("0xff.8").toString(),
    Decimal.sqrt(2).toString(),
    new Decimal(123.456).toDP(1).toString(),
    Decimal.exp("2.5").toString(),
    new Decimal("1e-7").div(3).toFixed(12),
    Decimal.atan2(1, 2).toPrecision(30) + "",
    new Decimal(5).pow(-2.5).toString(),
    new BigNumber("0.1").plus(0.2).toString(),
    new BigNumber("123456789.987654321").toFormat(3),
    new BigNumber("ff", 16).toString(2),
    BigNumber.sum("1e30", 1).toString(),
    new Big(1).div(3).toString(),
    new Big("1e21").times(3).toFixed(),
    new BN("dead", 16).add(new BN("101010", 2)).toString(10),
    new BN("123456789012345678901234567890").pow(new BN(3)).umod(new BN(97)).toString(),
    new BN(7).toRed(BN.red("k256")).redInvm().toString(16),
  ],
};

export default answering(topics);
