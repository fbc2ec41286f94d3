// Globals of the runtime's JavaScript, in addition to the language and the web platform.

interface ErrorConstructor {
  captureStackTrace(error: object, above?: Function): void;
  prepareStackTrace?: (error: any, frames: any[]) => any;
  stackTraceLimit: number;
}

declare var InternalError: ErrorConstructor;
declare var FixedLengthStream: any;
declare var IdentityTransformStream: any;
declare var process: any;
declare var __host: Host;

// Functions that construct with and without new. A JavaScript file cannot declare this for its exports.
declare module "node:buffer";
declare module "node:events";
declare module "node:stream";
declare module "node:internal/http/outgoing";
declare module "node:internal/http/incoming";
declare module "node:internal/http/server";
declare module "node:internal/http/response";

interface SharedArrayBuffer {
  readonly detached?: undefined;
}

// Files that a site and its Worker add next to the front on Cloudflare.
declare module "cloudflare:workers";
declare module "*/config.js";
declare module "*/site.js";
