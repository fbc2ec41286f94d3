import * as oauth4webapi from "oauth4webapi";

const issuer = new URL("https://issuer.test/");

// An authorization server of one client, as far as one flow needs it.
async function server() {
  const keys = await oauth4webapi.generateKeyPair("ES256", { extractable: true });
  const jwk = { ...await crypto.subtle.exportKey("jwk", keys.publicKey), alg: "ES256", kid: "1", use: "sig" };
  const state = { challenge: "", nonce: "", proofs: 0 };
  const encode = (value) => new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
  async function token(claims) {
    const head = `${encode({ alg: "ES256", kid: "1" })}.${encode(claims)}`;
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, keys.privateKey, new TextEncoder().encode(head));
    return `${head}.${new Uint8Array(signature).toBase64({ alphabet: "base64url", omitPadding: true })}`;
  }
  async function answer(url, { body, headers }) {
    const { pathname } = new URL(url);
    if (pathname === "/.well-known/openid-configuration") {
      return { issuer: issuer.href, authorization_endpoint: `${issuer}authorize`, token_endpoint: `${issuer}token`, userinfo_endpoint: `${issuer}me`, jwks_uri: `${issuer}keys`, code_challenge_methods_supported: ["S256"] };
    }
    if (pathname === "/keys") return { keys: [jwk] };
    if (pathname === "/me") return { sub: "them", proof: state.proofs };
    const form = new URLSearchParams(body), verified = await oauth4webapi.calculatePKCECodeChallenge(form.get("code_verifier")) === state.challenge;
    if (!verified) return { error: "invalid_grant" };
    if (new Headers(headers).get("dpop")?.split(".").length === 3) state.proofs++;
    const now = Math.floor(Date.now() / 1000);
    return { access_token: "access", token_type: "DPoP", expires_in: 60, id_token: await token({ iss: issuer.href, sub: "them", aud: "client", iat: now, exp: now + 60, nonce: state.nonce }) };
  }
  const fetch = async (url, options) => {
    const value = await answer(url, options);
    return Response.json(value, { status: value.error ? 400 : 200 });
  };
  return { state, fetch };
}

/** https://github.com/panva/oauth4webapi#readme: the code flow with PKCE, DPoP and an ID token. */
export async function oauth() {
  const { state, fetch } = await server(), options = { [oauth4webapi.customFetch]: fetch };
  const as = await oauth4webapi.processDiscoveryResponse(issuer, await oauth4webapi.discoveryRequest(issuer, options));
  const client = { client_id: "client", id_token_signed_response_alg: "ES256" }, verifier = oauth4webapi.generateRandomCodeVerifier();
  state.challenge = await oauth4webapi.calculatePKCECodeChallenge(verifier);
  state.nonce = oauth4webapi.generateRandomNonce();
  const DPoP = oauth4webapi.DPoP(client, await oauth4webapi.generateKeyPair("ES256"));
  const params = oauth4webapi.validateAuthResponse(as, client, new URL("https://client.test/cb?code=abc&iss=" + encodeURIComponent(issuer)));
  const response = await oauth4webapi.authorizationCodeGrantRequest(as, client, oauth4webapi.ClientSecretPost("secret"), params, "https://client.test/cb", verifier, { ...options, DPoP });
  const result = await oauth4webapi.processAuthorizationCodeResponse(as, client, response, { expectedNonce: state.nonce, requireIdToken: true });
  await oauth4webapi.validateApplicationLevelSignature(as, response, options);
  const claims = oauth4webapi.getValidatedIdTokenClaims(result);
  const me = await oauth4webapi.processUserInfoResponse(as, client, claims.sub, await oauth4webapi.userInfoRequest(as, client, result.access_token, { ...options, DPoP }));
  const refused = await oauth4webapi.processAuthorizationCodeResponse(as, client, await oauth4webapi.authorizationCodeGrantRequest(as, client, oauth4webapi.None(), params, "https://client.test/cb", "wrong".repeat(10), options)).catch((error) => error.error);
  return { sub: me.sub, proof: me.proof, claims: Object.keys(claims).sort().join(), refused };
}
