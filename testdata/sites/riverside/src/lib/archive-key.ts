import type { MiddlewareHandler } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { HTTPException } from "hono/http-exception";
import type { AppContext, AppEnv } from "../env";

/**
 * Accepts a request with the archive key as its bearer token.
 * A site without a key refuses all requests.
 */
export const archiveKey: MiddlewareHandler<AppEnv> = bearerAuth<AppEnv>({
  verifyToken: async (token: string, c: AppContext) => {
    const key = c.env.ARCHIVE_KEY;
    if (!key) throw new HTTPException(503, { message: "ARCHIVE_KEY is not set on this site" });
    return sameText(token, key);
  },
  noAuthenticationHeader: { message: { ok: false, error: "send the archive key as a bearer token" } },
  invalidToken: { message: { ok: false, error: "that is not the archive key" } },
});

// Digests have the same length and reveal nothing about the text, so a comparison
// of all their bytes takes the same time for every wrong key.
async function sameText(a: string, b: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const [x, y] = await Promise.all([a, b].map((text) => crypto.subtle.digest("SHA-256", encoder.encode(text))));
  const left = new Uint8Array(x!);
  const right = new Uint8Array(y!);
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!;
  return difference === 0;
}
