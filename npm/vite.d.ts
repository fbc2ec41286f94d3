import type { PlatformOptions } from "./index.js";

export interface VitePluginOptions extends PlatformOptions {
  /** Put the site's gate, forms and routes in front of `vite dev`. Default true; never if pages dev is in front already. */
  front?: boolean;
}

/**
 * A plugin of Vite 6 or later for `vite dev`. It starts pages dev, sends each request there first, and gives
 * `import { env } from "cloudflare:workers"` the bindings in code that runs in Node.js.
 */
export function pages(options?: VitePluginOptions): any;

export default pages;
