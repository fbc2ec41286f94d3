// The integration of index.mjs puts this before the middleware of an Astro site.
import { sharedPlatform } from "./index.mjs";

export async function onRequest(context, next) {
  const { env, cf, ctx, caches } = await sharedPlatform();
  if (context.locals.runtime === undefined) context.locals.runtime = { env, cf, ctx, caches };
  return next();
}
