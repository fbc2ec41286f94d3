import { pipeline as nodePipeline } from "node:stream/promises";
import { DatabaseError, parse, serialize } from "pg-protocol";
import MailComposer from "nodemailer/lib/mail-composer";
import { PassThrough, pipeline, Readable, Transform } from "readable-stream";

/** https://github.com/nodejs/readable-stream#readme */
export async function streams() {
  const upper = new Transform({ transform(chunk, encoding, done) { done(null, chunk.toString().toUpperCase()); } });
  const out = [];
  await new Promise((resolve, reject) => pipeline(Readable.from(["a", "b"]), upper, new PassThrough().on("data", (c) => out.push(`${c}`)), (error) => (error ? reject(error) : resolve())));
  await nodePipeline(Readable.from(["x"]), async function* (source) { for await (const c of source) yield `<${c}>`; }, async (source) => { for await (const c of source) out.push(c); });
  return { out: out.join(" ") };
}

/** https://github.com/brianc/node-postgres/tree/master/packages/pg-protocol */
export async function postgres() {
  const bytes = serialize.query("SELECT 1");
  const incoming = new PassThrough(), seen = [];
  const done = parse(incoming, (message) => seen.push(message instanceof DatabaseError ? `${message.code} ${message.message}` : message.name));
  incoming.write(Buffer.from("5a0000000549", "hex"));
  const field = (key, text) => Buffer.concat([Buffer.from(key), Buffer.from(text), Buffer.from([0])]);
  const body = Buffer.concat([field("S", "ERROR"), field("C", "42P01"), field("M", "no table"), Buffer.from([0])]);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  incoming.end(Buffer.concat([head, body]));
  await done;
  return { bytes: bytes.toString("hex"), seen: seen.join() };
}

/** https://nodemailer.com/extras/mailcomposer */
export async function mail() {
  const composer = new MailComposer({ from: "a@example.com", to: "b@example.com", subject: "Grüße", text: "Hello", html: "<b>Hello</b>", attachments: [{ filename: "t.txt", content: "attached" }] });
  const message = await new Promise((resolve, reject) => composer.compile().build((error, text) => (error ? reject(error) : resolve(text.toString()))));
  return { subject: /Subject: (.*)\r/.exec(message)[1], multipart: message.includes("Content-Type: multipart/mixed"), attachment: message.includes(Buffer.from("attached").toString("base64")) || message.includes("attached") };
}
