// env: the bindings of a Worker.
import { Fetcher } from "../assets/js/assets.js";
import { D1Database } from "../d1/js/d1.js";
import { ImagesBinding } from "../images/js/images.js";
import { KvNamespace } from "../kv/js/kv.js";
import { R2Bucket } from "../r2/js/r2.js";

const KINDS = {
  database: ({ id }) => new D1Database(id),
  kv: ({ id }) => new KvNamespace(id),
  storage: ({ id }) => new R2Bucket(id),
  images: ({ id }) => new ImagesBinding(id),
  assets: ({ id }) => new Fetcher(id),
  secret: ({ value }) => value ?? "",
};

/** Makes env of the document that the host's Set.EnvSpec returns, parsed. */
export function makeEnv(spec) {
  const env = {};
  for (const [name, binding] of Object.entries(spec)) {
    const make = KINDS[binding.kind];
    if (make === undefined) throw new TypeError(`The binding ${name} is of the unknown kind ${binding.kind}`);
    Object.defineProperty(env, name, { value: make(binding), enumerable: true, configurable: true, writable: true });
  }
  return env;
}
