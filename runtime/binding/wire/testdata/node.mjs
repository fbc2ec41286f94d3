// Runs a Worker's handler in this process, with env over the wire: node.mjs BINDINGS ADDRESS TOKEN WORKER. Each line of
// standard input is a target that is asked for; the body of the answer is printed as a line of JSON.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// What Workers have and Node.js lacks, for the Workers of the tests.
globalThis.FixedLengthStream = class extends TransformStream {
  constructor() {
    super();
  }
};
const { digest } = crypto.subtle;
crypto.subtle.digest = async (name, data) =>
  name === "MD5" ? new Uint8Array(createHash("md5").update(new Uint8Array(data)).digest()).buffer : digest.call(crypto.subtle, name, data);

const [bindings, address, token, worker] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(bindings));
const { default: handler } = await import(pathToFileURL(worker));
const { env, wire } = await connect({ address, token });
for await (const target of createInterface({ input: process.stdin })) {
  let text;
  try {
    text = await (await handler.fetch(new Request(`http://site.localhost${target}`), env, { waitUntil() {} })).text();
  } catch (error) {
    text = `failed: ${error.stack}`;
  }
  console.log(JSON.stringify(text));
}
wire.close();
