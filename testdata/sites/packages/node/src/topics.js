export { jwt, bcrypt, uuid, nano } from "./secrets.js";
export { iconv, safe, csv, query, env, frontMatter } from "./text.js";
export { streams, postgres, mail } from "./wire.js";
export { logging, lru, debugging } from "./logging.js";
export { context } from "./context.js";
