/** Where a site is, and what to do if no pages dev runs for it. */
export interface PlatformOptions {
  /** The site's folder, or a folder below it. Default: the process's folder; for a command of `pages dev -- COMMAND`, its site. */
  dir?: string;
  /** Start pages dev if none runs. Default true. It ends with the process. */
  start?: boolean;
  /** Gets the lines that the started pages dev prints for people. */
  onLine?: (line: string) => void;
}

/** As a Worker's ctx. No request waits for it: a promise given to waitUntil runs, and its failure is printed. */
export interface PlatformContext {
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
  props: Record<string, unknown>;
}

export interface PlatformCache {
  match(request: Request | string | URL, options?: { ignoreMethod?: boolean }): Promise<Response | undefined>;
  put(request: Request | string | URL, response: Response): Promise<void>;
  delete(request: Request | string | URL, options?: { ignoreMethod?: boolean }): Promise<boolean>;
}

/** The bindings of a site. Env is the type that "pages types" writes. */
export interface Platform<Env = Record<string, any>> {
  env: Env;
  cf: Record<string, unknown>;
  ctx: PlatformContext;
  caches: { default: PlatformCache; open(name: string): Promise<PlatformCache> };
  /** The address of pages dev. */
  url: string;
  /** Ends the connection, and the pages dev that this call started. Later calls of the bindings fail. */
  dispose(): Promise<void>;
}

/** Connects to the bindings of a site: of the pages dev that started this process, of a running one, or of a new one. */
export function getPlatform<Env = Record<string, any>>(options?: PlatformOptions): Promise<Platform<Env>>;

/** The same for the whole process and one site: connected once, and never disposed. */
export function sharedPlatform<Env = Record<string, any>>(options?: PlatformOptions): Promise<Platform<Env>>;

/** SvelteKit: adapter: sveltekit(adapter()) in svelte.config.js gives event.platform the bindings in development. */
export function sveltekit<Adapter>(adapter?: Adapter, options?: PlatformOptions): Adapter & { name: string };

/** Astro: integrations: [astro()] gives Astro.locals.runtime the bindings in `astro dev`. */
export function astro(options?: PlatformOptions): { name: string; hooks: Record<string, any> };

/** Nitro, Nuxt: the function of the plugin "pages-toolchain/nitro". */
export function nitro(app: any, options?: PlatformOptions): void;

/** OpenNext: in next.config, gives getCloudflareContext() the bindings in `next dev`. */
export function initForNextDev(options?: PlatformOptions): Promise<void>;
