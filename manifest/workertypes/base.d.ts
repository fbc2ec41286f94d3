/**
 * The environment of this site's Worker. The types of bindings are short versions with the names of
 * @cloudflare/workers-types: if that package is installed, its declarations come before these.
 */
declare namespace Pages {
  /** The signed-in member of the workspace who sent a request to a members route. */
  interface Member {
    readonly id: string;
    readonly email: string;
    readonly name: string;
  }

  /** The third argument of fetch. */
  interface Context {
    /** Keeps work going after the response is sent. */
    waitUntil(promise: Promise<unknown>): void;
    /** Lets the site's files answer when the Worker throws. */
    passThroughOnException(): void;
    readonly props: unknown;
    /** The member, on routes with "access": "members"; null on others. */
    readonly member?: Member | null;
  }

  /** The shape of the default export: `export default { … } satisfies Pages.Handler`. */
  interface Handler {
    fetch(request: Request, env: Env, ctx: Context): Response | Promise<Response>;
  }

  /** A SQLite database with the shape of D1. */
  interface Database {
    prepare(query: string): Statement;
    /** Runs statements in order, in one transaction. */
    batch<T = unknown>(statements: Statement[]): Promise<Result<T>[]>;
    /** Runs each line as one statement. */
    exec(query: string): Promise<{ count: number; duration: number }>;
    withSession(constraintOrBookmark?: string): DatabaseSession;
    dump(): Promise<ArrayBuffer>;
  }
  interface DatabaseSession {
    prepare(query: string): Statement;
    batch<T = unknown>(statements: Statement[]): Promise<Result<T>[]>;
    getBookmark(): string | null;
  }
  interface Statement {
    bind(...values: unknown[]): Statement;
    /** One column of the first row. */
    first<T = unknown>(column: string): Promise<T | null>;
    first<T = Record<string, unknown>>(): Promise<T | null>;
    run<T = Record<string, unknown>>(): Promise<Result<T>>;
    all<T = Record<string, unknown>>(): Promise<Result<T>>;
    raw<T = unknown[]>(options: { columnNames: true }): Promise<[string[], ...T[]]>;
    raw<T = unknown[]>(options?: { columnNames?: false }): Promise<T[]>;
  }
  interface Result<T = unknown> {
    success: true;
    results: T[];
    meta: {
      duration: number;
      size_after: number;
      rows_read: number;
      rows_written: number;
      last_row_id: number;
      changed_db: boolean;
      changes: number;
    };
  }

  /** Key-value storage with the shape of Workers KV. */
  interface KV<Key extends string = string> {
    get(key: Key, options?: "text" | { type?: "text"; cacheTtl?: number }): Promise<string | null>;
    get<T = unknown>(key: Key, options: "json" | { type: "json"; cacheTtl?: number }): Promise<T | null>;
    get(key: Key, options: "arrayBuffer" | { type: "arrayBuffer"; cacheTtl?: number }): Promise<ArrayBuffer | null>;
    get(key: Key, options: "stream" | { type: "stream"; cacheTtl?: number }): Promise<ReadableStream | null>;
    get(keys: Key[], options?: "text" | { type?: "text"; cacheTtl?: number }): Promise<Map<string, string | null>>;
    get<T = unknown>(keys: Key[], options: "json" | { type: "json"; cacheTtl?: number }): Promise<Map<string, T | null>>;
    getWithMetadata<M = unknown>(key: Key, options?: "text" | { type?: "text"; cacheTtl?: number }): Promise<KVEntry<string, M>>;
    getWithMetadata<T = unknown, M = unknown>(key: Key, options: "json" | { type: "json"; cacheTtl?: number }): Promise<KVEntry<T, M>>;
    getWithMetadata<M = unknown>(key: Key, options: "arrayBuffer" | { type: "arrayBuffer"; cacheTtl?: number }): Promise<KVEntry<ArrayBuffer, M>>;
    getWithMetadata<M = unknown>(key: Key, options: "stream" | { type: "stream"; cacheTtl?: number }): Promise<KVEntry<ReadableStream, M>>;
    put(key: Key, value: string | ArrayBuffer | ArrayBufferView | ReadableStream, options?: { expiration?: number; expirationTtl?: number; metadata?: any }): Promise<void>;
    list<M = unknown>(options?: { prefix?: string | null; limit?: number; cursor?: string | null }): Promise<KVList<Key, M>>;
    delete(key: Key): Promise<void>;
  }
  interface KVEntry<Value, Metadata> {
    value: Value | null;
    metadata: Metadata | null;
    cacheStatus: string | null;
  }
  type KVList<Key extends string, Metadata> = { keys: { name: Key; expiration?: number; metadata?: Metadata }[]; cacheStatus: string | null } & (
    { list_complete: false; cursor: string } | { list_complete: true }
  );

  /** Object storage with the shape of R2. */
  interface Bucket {
    head(key: string): Promise<StoredObject | null>;
    /** Without a body if the condition was false. */
    get(key: string, options: GetOptions & { onlyIf: Conditions | Headers }): Promise<StoredBody | StoredObject | null>;
    get(key: string, options?: GetOptions): Promise<StoredBody | null>;
    put(key: string, value: StoredValue | null, options: PutOptions & { onlyIf: Conditions | Headers }): Promise<StoredObject | null>;
    put(key: string, value: StoredValue | null, options?: PutOptions): Promise<StoredObject>;
    delete(keys: string | string[]): Promise<void>;
    list(options?: ListOptions): Promise<StoredList>;
    createMultipartUpload(key: string, options?: UploadOptions): Promise<Upload>;
    resumeMultipartUpload(key: string, uploadId: string): Upload;
  }
  type StoredValue = ReadableStream | ArrayBuffer | ArrayBufferView | string | Blob;
  interface StoredObject {
    readonly key: string;
    readonly version: string;
    readonly size: number;
    readonly etag: string;
    readonly httpEtag: string;
    readonly checksums: Checksums;
    readonly uploaded: Date;
    readonly httpMetadata?: HTTPMetadata;
    readonly customMetadata?: Record<string, string>;
    /** The requested range, if get received one. */
    readonly range?: { offset: number; length?: number } | { offset?: number; length: number } | { suffix: number };
    readonly storageClass: string;
    writeHttpMetadata(headers: Headers): void;
  }
  interface StoredBody extends StoredObject {
    readonly body: ReadableStream;
    readonly bodyUsed: boolean;
    arrayBuffer(): Promise<ArrayBuffer>;
    bytes(): Promise<Uint8Array>;
    text(): Promise<string>;
    json<T>(): Promise<T>;
    blob(): Promise<Blob>;
  }
  interface Checksums {
    readonly md5?: ArrayBuffer;
    readonly sha1?: ArrayBuffer;
    readonly sha256?: ArrayBuffer;
    readonly sha384?: ArrayBuffer;
    readonly sha512?: ArrayBuffer;
    toJSON(): { md5?: string; sha1?: string; sha256?: string; sha384?: string; sha512?: string };
  }
  interface HTTPMetadata {
    contentType?: string;
    contentLanguage?: string;
    contentDisposition?: string;
    contentEncoding?: string;
    cacheControl?: string;
    cacheExpiry?: Date;
  }
  interface Conditions {
    etagMatches?: string;
    etagDoesNotMatch?: string;
    uploadedBefore?: Date;
    uploadedAfter?: Date;
    secondsGranularity?: boolean;
  }
  interface GetOptions {
    onlyIf?: Conditions | Headers;
    range?: { offset: number; length?: number } | { offset?: number; length: number } | { suffix: number } | Headers;
  }
  interface UploadOptions {
    httpMetadata?: HTTPMetadata | Headers;
    customMetadata?: Record<string, string>;
    storageClass?: string;
  }
  interface PutOptions extends UploadOptions {
    onlyIf?: Conditions | Headers;
    md5?: ArrayBuffer | ArrayBufferView | string;
    sha1?: ArrayBuffer | ArrayBufferView | string;
    sha256?: ArrayBuffer | ArrayBufferView | string;
    sha384?: ArrayBuffer | ArrayBufferView | string;
    sha512?: ArrayBuffer | ArrayBufferView | string;
  }
  interface ListOptions {
    prefix?: string;
    delimiter?: string;
    cursor?: string;
    startAfter?: string;
    limit?: number;
    include?: ("httpMetadata" | "customMetadata")[];
  }
  type StoredList = { objects: StoredObject[]; delimitedPrefixes: string[] } & ({ truncated: true; cursor: string } | { truncated: false });
  interface Upload {
    readonly key: string;
    readonly uploadId: string;
    uploadPart(partNumber: number, value: StoredValue): Promise<UploadedPart>;
    complete(parts: UploadedPart[]): Promise<StoredObject>;
    abort(): Promise<void>;
  }
  interface UploadedPart {
    partNumber: number;
    etag: string;
  }

  /** Image transforms with the shape of Cloudflare Images. */
  interface Images {
    info(image: ReadableStream<Uint8Array>, options?: { encoding?: "base64" }): Promise<{ format: "image/svg+xml" } | { format: string; fileSize: number; width: number; height: number }>;
    input(image: ReadableStream<Uint8Array>, options?: { encoding?: "base64" }): Transformer;
  }
  interface Transformer {
    transform(options: Transform): Transformer;
    draw(image: ReadableStream<Uint8Array> | Transformer, options?: Draw): Transformer;
    output(options: { format: "image/jpeg" | "image/png" | "image/gif" | "image/webp" | "image/avif" | "rgb" | "rgba"; quality?: number; background?: string; anim?: boolean }): Promise<TransformResult>;
  }
  interface Transform {
    width?: number;
    height?: number;
    fit?: "scale-down" | "contain" | "pad" | "squeeze" | "cover" | "crop";
    background?: string;
    blur?: number;
    brightness?: number;
    contrast?: number;
    flip?: "h" | "v" | "hv";
    gamma?: number;
    rotate?: 0 | 90 | 180 | 270;
    saturation?: number;
    sharpen?: number;
    gravity?: unknown;
    trim?: unknown;
    border?: unknown;
  }
  interface Draw {
    opacity?: number;
    repeat?: boolean | string;
    top?: number;
    left?: number;
    bottom?: number;
    right?: number;
  }
  interface TransformResult {
    response(): Response;
    contentType(): string;
    image(options?: { encoding?: "base64" }): ReadableStream<Uint8Array>;
  }

  /** The site's own static files; only GET and HEAD, and the host of the URL does not matter. */
  interface Assets {
    fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  }
}

interface D1Database extends Pages.Database {}
interface KVNamespace<Key extends string = string> extends Pages.KV<Key> {}
interface R2Bucket extends Pages.Bucket {}
interface ImagesBinding extends Pages.Images {}

declare namespace Cloudflare {
  interface Env extends PagesEnv {}
}
interface Env extends PagesEnv {}

// A pattern, so that an installed @cloudflare/workers-types has priority.
declare module "cloudflare:worker*" {
  export const env: Env;
  export function waitUntil(promise: Promise<unknown>): void;
  export abstract class WorkerEntrypoint<E = Env, Props = unknown> {
    protected env: E;
    protected ctx: Pages.Context;
    constructor(ctx: Pages.Context, env: E);
    fetch?(request: Request): Response | Promise<Response>;
  }
}

// Servers of node:http, under nodejs_compat. A pattern for the same reason.
declare module "cloudflare:nod*" {
  export function handleAsNodeRequest(port: number | { port: number }, request: Request, env?: Env, ctx?: Pages.Context): Promise<Response>;
  export function httpServerHandler(server: number | { port?: number } | { listen(...args: any[]): unknown }): {
    fetch(request: Request, env: Env, ctx: Pages.Context): Promise<Response>;
  };
}

// Modules of a Worker other than code.
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*.html" {
  const text: string;
  export default text;
}
declare module "*.bin" {
  const bytes: ArrayBuffer;
  export default bytes;
}
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
declare module "*.json" {
  const value: any;
  export default value;
}
