import { generateAuthenticationOptions, generateRegistrationOptions, verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { isoCBOR } from "@simplewebauthn/server/helpers";

const rpID = "example.test", origin = "https://example.test";
const text = (value) => new TextEncoder().encode(value), base64url = (bytes) => new Uint8Array(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
const join = (...parts) => new Uint8Array(parts.flatMap((part) => [...new Uint8Array(part)]));
const counter = (n) => [0, 0, 0, n];
const clientData = (type, challenge) => text(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

// An authenticator: one key, in software.
async function authenticator() {
  const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", keys.publicKey)), id = crypto.getRandomValues(new Uint8Array(16));
  const cose = isoCBOR.encode(new Map([[1, 2], [3, -7], [-1, 1], [-2, point.slice(1, 33)], [-3, point.slice(33)]]));
  const rpIdHash = await crypto.subtle.digest("SHA-256", text(rpID));
  const integer = (bytes) => { const n = [...bytes]; while (n[0] === 0) n.shift(); if (n[0] > 127) n.unshift(0); return [2, n.length, ...n]; };
  return {
    register(challenge) {
      const authData = join(rpIdHash, [0x45], counter(0), new Uint8Array(16), [0, 16], id, cose);
      const attestationObject = isoCBOR.encode(new Map([["fmt", "none"], ["attStmt", new Map()], ["authData", authData]]));
      return { id: base64url(id), rawId: base64url(id), type: "public-key", clientExtensionResults: {}, response: { clientDataJSON: base64url(clientData("webauthn.create", challenge)), attestationObject: base64url(attestationObject) } };
    },
    async sign(challenge) {
      const client = clientData("webauthn.get", challenge), authenticatorData = join(rpIdHash, [5], counter(1));
      const raw = new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, keys.privateKey, join(authenticatorData, await crypto.subtle.digest("SHA-256", client))));
      const body = [...integer(raw.slice(0, 32)), ...integer(raw.slice(32))];
      return { id: base64url(id), rawId: base64url(id), type: "public-key", clientExtensionResults: {}, response: { clientDataJSON: base64url(client), authenticatorData: base64url(authenticatorData), signature: base64url([0x30, body.length, ...body]) } };
    },
  };
}

/** https://simplewebauthn.dev/docs/packages/server: a registration and a sign-in. */
export async function webauthn() {
  const device = await authenticator();
  const options = await generateRegistrationOptions({ rpName: "Example", rpID, userName: "them" });
  const { verified, registrationInfo } = await verifyRegistrationResponse({ response: device.register(options.challenge), expectedChallenge: options.challenge, expectedOrigin: origin, expectedRPID: rpID });
  const request = await generateAuthenticationOptions({ rpID });
  const check = (response) => verifyAuthenticationResponse({ response, expectedChallenge: request.challenge, expectedOrigin: origin, expectedRPID: rpID, credential: registrationInfo.credential });
  const response = await device.sign(request.challenge);
  const signedIn = await check(response);
  response.response.authenticatorData = response.response.authenticatorData.slice(0, -2) + "Ag";
  const changed = await check(response).then((result) => result.verified, (error) => error.message);
  return { verified, signedIn: signedIn.verified, counter: signedIn.authenticationInfo.newCounter, changed };
}
