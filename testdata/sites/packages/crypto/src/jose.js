import {
  CompactEncrypt, EncryptJWT, SignJWT, calculateJwkThumbprint, compactDecrypt, createLocalJWKSet, errors, exportJWK, exportPKCS8,
  exportSPKI, flattenedVerify, FlattenedSign, generateKeyPair, generateSecret, importJWK, importPKCS8, importSPKI, jwtDecrypt, jwtVerify,
} from "jose";

const signing = ["RS256", "RS384", "PS256", "PS512", "ES256", "ES384", "ES512", "EdDSA", "HS256", "HS512"];
const management = ["RSA-OAEP", "RSA-OAEP-256", "ECDH-ES", "ECDH-ES+A256KW", "A128KW", "A256KW", "A256GCMKW", "PBES2-HS256+A128KW", "dir"];
const contents = ["A128GCM", "A256GCM", "A128CBC-HS256", "A256CBC-HS512"];

async function keys(alg) {
  if (alg.startsWith("HS")) {
    const secret = await generateSecret(alg, { extractable: true });
    return { publicKey: secret, privateKey: secret };
  }
  return generateKeyPair(alg, { extractable: true });
}

async function sign(alg) {
  const { publicKey, privateKey } = await keys(alg);
  const token = await new SignJWT({ "urn:example:claim": true })
    .setProtectedHeader({ alg }).setIssuedAt().setIssuer("urn:example:issuer").setAudience("urn:example:audience").setExpirationTime("2h").sign(privateKey);
  const { payload } = await jwtVerify(token, publicKey, { issuer: "urn:example:issuer", audience: "urn:example:audience" });
  const jwk = await exportJWK(publicKey);
  const again = await jwtVerify(token, await importJWK(jwk, alg));
  const refused = await jwtVerify(token, publicKey, { audience: "somebody else" }).catch((error) => error.code);
  const forged = await jwtVerify(token.slice(0, -6) + (token.endsWith("AAAAAA") ? "BBBBBB" : "AAAAAA"), publicKey).catch((error) => error.code);
  let set = "symmetric";
  if (jwk.kty !== "oct") {
    jwk.kid = await calculateJwkThumbprint(jwk);
    const other = await exportJWK((await generateKeyPair("ES256")).publicKey);
    const JWKS = createLocalJWKSet({ keys: [other, { ...jwk, alg }] });
    set = (await jwtVerify(await new SignJWT({}).setProtectedHeader({ alg, kid: jwk.kid }).sign(privateKey), JWKS)).protectedHeader.kid === jwk.kid;
    const pem = await importSPKI(await exportSPKI(publicKey), alg);
    const own = await importPKCS8(await exportPKCS8(privateKey), alg);
    const jws = await new FlattenedSign(new TextEncoder().encode("text")).setProtectedHeader({ alg }).sign(own);
    set &&= new TextDecoder().decode((await flattenedVerify(jws, pem)).payload) === "text";
  }
  return [payload.iss, again.payload["urn:example:claim"], refused, forged, set].join();
}

async function encrypt(alg, enc) {
  let publicKey, privateKey;
  if (alg === "dir") publicKey = privateKey = await generateSecret(enc);
  else if (alg.startsWith("A")) publicKey = privateKey = await generateSecret(alg);
  else if (alg.startsWith("PBES2")) publicKey = privateKey = new TextEncoder().encode("a good long password");
  else ({ publicKey, privateKey } = await generateKeyPair(alg));
  const options = alg.startsWith("PBES2") ? { keyManagementAlgorithms: [alg] } : {};
  const token = await new EncryptJWT({ n: 1 }).setProtectedHeader({ alg, enc }).setSubject("them").setExpirationTime("1m").encrypt(publicKey);
  const { payload } = await jwtDecrypt(token, privateKey, options);
  const compact = await new CompactEncrypt(new TextEncoder().encode("secret")).setProtectedHeader({ alg, enc }).encrypt(publicKey);
  const { plaintext } = await compactDecrypt(compact, privateKey, options);
  const parts = token.split(".");
  parts[4] = parts[4].replace(/^./, (c) => (c === "A" ? "B" : "A"));
  const changed = await jwtDecrypt(parts.join("."), privateKey, options).catch((error) => error instanceof errors.JWEDecryptionFailed);
  return [payload.sub, new TextDecoder().decode(plaintext), changed].join();
}

/** https://github.com/panva/jose#readme */
export async function jose() {
  const out = {};
  for (const alg of signing) out[alg] = await sign(alg);
  for (const alg of management) for (const enc of alg === "dir" ? contents : [contents[1], contents[2]]) out[`${alg} ${enc}`] = await encrypt(alg, enc);
  const crv = "X25519", pair = await generateKeyPair("ECDH-ES", { crv, extractable: true });
  const token = await new EncryptJWT({ n: 1 }).setProtectedHeader({ alg: "ECDH-ES", enc: "A128GCM" }).encrypt(pair.publicKey);
  out[crv] = (await jwtDecrypt(token, pair.privateKey)).payload.n;
  return out;
}
