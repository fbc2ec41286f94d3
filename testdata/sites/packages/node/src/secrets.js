import { generateKeyPairSync } from "node:crypto";
import bcryptjs from "bcryptjs";
import jsonwebtoken from "jsonwebtoken";
import { nanoid } from "nanoid";
import { v1, v4, v5, validate } from "uuid";

/** https://github.com/auth0/node-jsonwebtoken#readme */
export async function jwt() {
  const token = jsonwebtoken.sign({ foo: "bar", iat: 1700000000 }, "shhhhh");
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048, publicKeyEncoding: { type: "spki", format: "pem" }, privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const signed = jsonwebtoken.sign({ foo: "rsa" }, privateKey, { algorithm: "RS256", expiresIn: "1h" });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const out = { token, verified: jsonwebtoken.verify(token, "shhhhh").foo, rsa: jsonwebtoken.verify(signed, publicKey).foo };
  out.ec = jsonwebtoken.verify(jsonwebtoken.sign({ foo: "ec" }, ec.privateKey, { algorithm: "ES256" }), ec.publicKey).foo;
  out.called = await new Promise((resolve) => jsonwebtoken.sign({ foo: "later" }, "s", (error, text) => resolve(error ?? jsonwebtoken.decode(text).foo)));
  try {
    jsonwebtoken.verify(token, "wrong-secret");
  } catch (error) {
    out.refused = `${error.name}: ${error.message}`;
  }
  return out;
}

/** https://github.com/dcodeIO/bcrypt.js#readme */
export async function bcrypt() {
  const hash = bcryptjs.hashSync("B4c0/\\/", bcryptjs.genSaltSync(4));
  return { right: await bcryptjs.compare("B4c0/\\/", hash), wrong: bcryptjs.compareSync("not_bacon", hash), known: bcryptjs.compareSync("bacon", bcryptjs.hashSync("bacon", 4)) };
}

/** https://github.com/uuidjs/uuid/tree/v8.3.2#readme */
export function uuid() {
  return { v4: validate(v4()), v1: validate(v1()), v5: v5("hello.example.com", v5.DNS) };
}

/** https://github.com/ai/nanoid/tree/3.3.11#readme */
export function nano() { return { length: nanoid().length, short: nanoid(5).length }; }
