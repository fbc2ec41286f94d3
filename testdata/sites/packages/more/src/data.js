// What the packages' own documentation shows first. workerd.json has what workerd gave.
import nacl from "tweetnacl";
import CryptoJS from "crypto-js";
import Joi from "joi";
import * as yup from "yup";
import * as ss from "superstruct";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import validator from "validator";
import { parsePhoneNumber, AsYouType, findPhoneNumbersInText } from "libphonenumber-js";
import { RRule, rrulestr } from "rrule";
import { CronExpressionParser } from "cron-parser";
import ms from "ms";
import humanizeDuration from "humanize-duration";
import prettyBytes from "pretty-bytes";
import numeral from "numeral";
import Hashids from "hashids";
import { createId, isCuid } from "@paralleldrive/cuid2";
import Sqids from "sqids";
import JSZip from "jszip";
import tar from "tar-stream";
import { BSON, ObjectId, EJSON, Long, Decimal128 } from "bson";
import { Packr, pack, unpack } from "msgpackr";
import * as msgpack from "@msgpack/msgpack";
import objectHash from "object-hash";
import stableStringify from "json-stable-stringify";
import { JSONPath } from "jsonpath-plus";
import jmespath from "jmespath";
import jsonata from "jsonata";

const sum = async (bytes) =>
  [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))]
    .slice(0, 8)
    .map((b) => b.toString(16).padStart(2, "0"))
    .join("");
import { answering } from "./answer.js";

const topics = {
  nacl: () => {
    const k = nacl.sign.keyPair.fromSeed(new Uint8Array(32));
    const m = new TextEncoder().encode("hi");
    const box = nacl.secretbox(m, new Uint8Array(24), new Uint8Array(32));
    return [
      [...nacl.sign.detached(m, k.secretKey)].slice(0, 8),
      [...box],
      new TextDecoder().decode(nacl.secretbox.open(box, new Uint8Array(24), new Uint8Array(32))),
      nacl.randomBytes(8).length,
      nacl.verify(m, m),
    ];
  },
  cryptojs: () => [
    CryptoJS.MD5("Message").toString(),
    CryptoJS.SHA3("Message").toString().slice(0, 20),
    CryptoJS.HmacSHA256("m", "k").toString(CryptoJS.enc.Base64),
    CryptoJS.AES.decrypt(CryptoJS.AES.encrypt("my message", "secret key 123"), "secret key 123").toString(CryptoJS.enc.Utf8),
    CryptoJS.PBKDF2("p", "s", { keySize: 8, iterations: 100 }).toString(),
    CryptoJS.RIPEMD160("x").toString(),
  ],
  joi: () => {
    const s = Joi.object({
      username: Joi.string().alphanum().min(3).max(30).required(),
      password: Joi.string().pattern(/^[a-zA-Z0-9]{3,30}$/),
      repeat_password: Joi.ref("password"),
      birth_year: Joi.number().integer().min(1900).max(2013),
      email: Joi.string().email({ minDomainSegments: 2, tlds: { allow: ["com", "net"] } }),
    })
      .with("username", "birth_year")
      .xor("password", "access_token");
    return [
      s.validate({ username: "abc", birth_year: 1994, password: "xyz" }),
      s.validate({}).error.message,
      s.validate({ username: "a!", birth_year: 3000, email: "x@y", password: "p" }, { abortEarly: false }).error.details,
      Joi.date().iso().validate("2020-01-01").value,
      Joi.attempt("1", Joi.number()),
    ];
  },
  yup: async () => {
    const s = yup.object({
      name: yup.string().required(),
      age: yup.number().required().positive().integer(),
      email: yup.string().email(),
      website: yup.string().url().nullable(),
      createdOn: yup.date().default(() => new Date(0)),
    });
    return [
      await s.validate({ name: "jimmy", age: "24" }),
      await s
        .validate({ age: -1, email: "x" }, { abortEarly: false })
        .catch((e) => [e.name, e.errors, e.inner.map((i) => i.path)]),
      s.isValidSync({ name: "j", age: 1.5 }),
      s.cast({ name: "jimmy", age: "24", createdOn: "2014-09-23T19:25:25Z" }),
    ];
  },
  superstruct: () => {
    const A = ss.object({
      id: ss.number(),
      title: ss.string(),
      tags: ss.array(ss.string()),
      author: ss.object({ id: ss.number() }),
    });
    const [e] = ss.validate({ id: 34, title: "t", tags: ["a", 1], author: { id: 1 } }, A);
    return [
      ss.is({ id: 34, title: "t", tags: [], author: { id: 1 } }, A),
      e.message,
      [...e.failures()].map((f) => f.path),
      ss.create({ n: "5" }, ss.object({ n: ss.coerce(ss.number(), ss.string(), parseFloat) })),
    ];
  },
  typebox: () => {
    const T = Type.Object({ x: Type.Number(), y: Type.Optional(Type.String({ minLength: 2 })) });
    let compiled;
    try {
      compiled = TypeCompiler.Compile(T).Check({ x: 1 });
    } catch (e) {
      compiled = e.name;
    }
    return [
      Value.Check(T, { x: 1 }),
      [...Value.Errors(T, { x: "1", y: "a" })].map((e) => [e.path, e.message]),
      Value.Convert(T, { x: "42" }),
      Value.Diff({ x: 1 }, { x: 2 }),
      Value.Create(T),
      compiled,
      Value.Hash({ a: 1 }),
    ];
  },
  validator: () => [
    validator.isEmail("foo@bar.com"),
    validator.isURL("http://x.y/z?q#h"),
    validator.isCreditCard("4111 1111 1111 1111"),
    validator.isISO8601("2009-12T12:34"),
    validator.isMobilePhone("+4915123456789", "de-DE"),
    validator.escape("<a href='x'>"),
    validator.normalizeEmail("Some.Name+x@gmail.com"),
    validator.isIBAN("DE89370400440532013000"),
    validator.isStrongPassword("aA1!aaaa"),
    validator.isJWT("a.b.c"),
    validator.isAlpha("åäö", "sv-SE"),
    validator.isPostalCode("1234", "NL"),
  ],
  phone: () => {
    const p = parsePhoneNumber(" 8 (800) 555-35-35 ", "RU");
    return [
      p.country,
      p.number,
      p.isValid(),
      p.formatNational(),
      p.formatInternational(),
      p.getURI(),
      new AsYouType("US").input("2133734"),
      findPhoneNumbersInText("call (213) 373-4253 ext. 1234 or +44 20 7946 0958", "US").map((x) => [x.number.number, x.startsAt]),
    ];
  },
  rrule: () => {
    const r = new RRule({
      freq: RRule.WEEKLY,
      interval: 5,
      byweekday: [RRule.MO, RRule.FR],
      dtstart: new Date(Date.UTC(2012, 1, 1, 10, 30)),
      until: new Date(Date.UTC(2012, 12, 31)),
    });
    return [
      r.all().length,
      r.between(new Date(Date.UTC(2012, 7, 1)), new Date(Date.UTC(2012, 8, 1))),
      r.toString(),
      r.toText(),
      rrulestr("DTSTART:20120201T023000Z\nRRULE:FREQ=MONTHLY;COUNT=5").all(),
      rrulestr("DTSTART;TZID=America/New_York:20200308T013000\nRRULE:FREQ=DAILY;COUNT=3").all(),
    ];
  },
  cron: () => {
    const i = CronExpressionParser.parse("*/20 9-17 * * 1-5", {
      currentDate: new Date("2023-01-06T16:30:00Z"),
      tz: "Europe/London",
    });
    return [
      i.next().toISOString(),
      i.next().toISOString(),
      i.next().toISOString(),
      i.prev().toString(),
      CronExpressionParser.parse("0 30 2 * * *", { currentDate: "2024-03-30T12:00:00", tz: "Europe/Berlin" })
        .next()
        .toISOString(),
      (() => {
        try {
          CronExpressionParser.parse("99 * * * *");
        } catch (e) {
          return e.message;
        }
      })(),
    ];
  },
  small: () => [
    ms("2.5 hrs"),
    ms(-3 * 60000),
    ms(120000, { long: true }),
    humanizeDuration(97320000),
    humanizeDuration(3601000, { language: "de", largest: 1 }),
    prettyBytes(1337),
    prettyBytes(1e9, { locale: "de", binary: true }),
    numeral(1234.567).format("0,0.00"),
    numeral(0.97).format("0%"),
    numeral(100).format("0o"),
    numeral(3467479682787).format("0.000 ib"),
    new Hashids("salt", 8).encode(1, 2, 3),
    new Hashids("salt", 8).decode("GlaHquq0"),
    isCuid(createId()),
    createId().length,
    new Sqids().encode([1, 2, 3]),
    new Sqids().decode("86Rf07"),
  ],
  jszip: async () => {
    const z = new JSZip();
    z.file("Hello.txt", "Hello World\n", { date: new Date(Date.UTC(2020, 1, 1)) });
    z.folder("images").file("smile.gif", "R0lGODdhBQAFAIACAAAAAP/eACwAAAAABQAFAAACCIwPkWerClIBADs=", {
      base64: true,
      date: new Date(Date.UTC(2020, 1, 1)),
    });
    const b = await z.generateAsync({ type: "uint8array", compression: "DEFLATE" });
    const l = await JSZip.loadAsync(b);
    return [
      b.length,
      Object.keys(l.files),
      await l.file("Hello.txt").async("string"),
      (await l.file("images/smile.gif").async("base64")).length,
    ];
  },
  tar: async () => {
    const p = tar.pack();
    p.entry({ name: "my-test.txt", mtime: new Date(0) }, "Hello World!");
    const e = p.entry({ name: "s.txt", size: 11, mtime: new Date(0) }, () => p.finalize());
    e.write("hello");
    e.write(" ");
    e.write("world");
    e.end();
    const chunks = [];
    for await (const c of p) chunks.push(c);
    const all = Buffer.concat(chunks);
    const got = [];
    const x = tar.extract();
    x.on("entry", (h, s, next) => {
      let t = "";
      s.on("data", (c) => (t += c));
      s.on("end", () => {
        got.push([h.name, h.size, t]);
        next();
      });
      s.resume();
    });
    await new Promise((ok, no) => {
      x.on("finish", ok);
      x.on("error", no);
      x.end(all);
    });
    return [all.length, await sum(all), got];
  },
  bson: () => {
    const id = new ObjectId("507f1f77bcf86cd799439011");
    const b = BSON.serialize({
      _id: id,
      hello: "world",
      n: Long.fromString("9007199254740993"),
      d: new Date(5),
      x: Decimal128.fromString("1.5"),
      r: /a/i,
      u: undefined,
      b: new Uint8Array([1]),
    });
    return [
      Buffer.from(b).toString("hex"),
      EJSON.stringify(BSON.deserialize(b)),
      id.getTimestamp(),
      new ObjectId().toString().length,
      JSON.stringify(BSON.deserialize(b)),
      BSON.calculateObjectSize({ a: 1 }),
    ];
  },
  msgpack: () => {
    const v = {
      a: [1, -1, 1.5, 2 ** 40, "é", null, true],
      d: new Date(0),
      b: new Uint8Array([1, 2]),
      big: 123n,
      m: { n: { o: [] } },
    };
    const m = msgpack.encode({ ...v, big: 5 });
    let rec;
    try {
      const p = new Packr({ structuredClone: true });
      rec = p.unpack(p.pack({ s: new Set([1]), e: new Error("x"), ma: new Map([[1, 2]]) }));
      rec = [[...rec.s], rec.e.message, [...rec.ma]];
    } catch (e) {
      rec = e.name + e.message;
    }
    return [
      Buffer.from(pack(v)).toString("hex"),
      unpack(
        pack([
          { x: 1, y: 2 },
          { x: 3, y: 4 },
        ]),
      ),
      Buffer.from(m).toString("hex"),
      msgpack.decode(m).a,
      rec,
    ];
  },
  hashing: () => [
    objectHash({ foo: "bar", f: () => 1 }),
    objectHash([1, 2, new Date(0), null, new Map([[1, { a: 2 }]])]),
    objectHash({ b: 1, a: 2 }, { algorithm: "md5", encoding: "base64" }),
    stableStringify({ c: 8, b: [{ z: 6, y: 5, x: 4 }, 7], a: 3 }),
    stableStringify({ b: 1, a: undefined }, { space: 1, cmp: (a, b) => (a.key < b.key ? 1 : -1) }),
  ],
  jsonQuery: async () => [
    JSONPath({ path: "$..price", json: { store: { book: [{ price: 8 }, { price: 9 }], bicycle: { price: 19 } } } }),
    (() => {
      try {
        return JSONPath({ path: "$..book[?(@.price<9)]", json: { book: [{ price: 8 }, { price: 9 }] } });
      } catch (e) {
        return e.name + ": " + e.message;
      }
    })(),
    jmespath.search(
      {
        locations: [
          { name: "Seattle", state: "WA" },
          { name: "New York", state: "NY" },
          { name: "Bellevue", state: "WA" },
        ],
      },
      "locations[?state == 'WA'].name | sort(@) | {Washington: join(', ', @)}",
    ),
    await jsonata("$sum(example.value)").evaluate({ example: [{ value: 4 }, { value: 7 }] }),
    await jsonata("Account.Order[0].{ 'n': $uppercase(a), 'd': $fromMillis(0, '[Y0001]-[M01]-[D01]') }").evaluate({
      Account: { Order: [{ a: "x" }] },
    }),
    await jsonata("($f := function($n){ $n < 2 ? 1 : $n * $f($n - 1) }; $f(10))").evaluate({}),
    await jsonata("$map([1..5], function($v){$v * 2})[0")
      .evaluate({})
      .catch((e) => [e.code, e.message]),
  ],
};

export default answering(topics);
