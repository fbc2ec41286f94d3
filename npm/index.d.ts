/** Where a site is, and what happens where no pages dev runs for it. */
export interface PlatformOptions {
  /** The site's folder, or one in it. Default: the process's folder; or the site of `pages dev -- COMMAND`, for its command. */
  dir?: string;
  /** Start pages dev where none runs. Default true. It ends with the process. */
  start?: boolean;
  /** Gets the lines that a started pages dev prints for people. */
  onLine?: (line: string) => void;
}

/** As a Worker's ctx. There is no request to wait for: a promise of waitUntil runs, and its failure is printed. */
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

/** Connects to the bindings of a site: to those of the pages dev that started this process, of one that runs, or of a new one. */
export function getPlatform<Env = Record<string, any>>(options?: PlatformOptions): Promise<Platform<Env>>;

/** The same for all of a process, for one site: connected once, and never disposed. */
export function sharedPlatform<Env = Record<string, any>>(options?: PlatformOptions): Promise<Platform<Env>>;

/** SvelteKit: adapter: sveltekit(adapter()) in svelte.config.js gives event.platform the bindings in development. */
export function sveltekit<Adapter>(adapter?: Adapter, options?: PlatformOptions): Adapter & { name: string };

/** Astro: integrations: [astro()] gives Astro.locals.runtime the bindings in `astro dev`. */
export function astro(options?: PlatformOptions): { name: string; hooks: Record<string, any> };

/** Nitro, Nuxt: the function of the plugin "pages-toolchain/nitro". */
export function nitro(app: any, options?: PlatformOptions): void;

/** OpenNext: in next.config, gives getCloudflareContext() the bindings in `next dev`. */
export function initForNextDev(options?: PlatformOptions): Promise<void>;
