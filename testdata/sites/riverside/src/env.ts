import type { Context } from "hono";

/** The bindings of the Worker. */
export interface Env {
  DB: D1Database;
  PROJECT_DB: D1Database;
  KV: KVNamespace;
  BUCKET: R2Bucket;
  IMAGES: ImagesBinding;
  ASSETS: Fetcher;
  ARCHIVE_KEY?: string;
}

/** The signed-in member who sent a request to a members route. */
export interface Member {
  id: string;
  email: string;
  name: string;
}

export interface AppEnv {
  Bindings: Env;
  Variables: { member: Member };
}

export type AppContext = Context<AppEnv>;
