// env for a process of Node.js: the classes of a Worker's env, over the wire. The bundle of this file is ../bindings.mjs, in which the
// modules of parts/ replace those of the engine.
import { makeEnv } from "../../runtime/binding/js/index.js";
import { bind } from "./parts/host.js";
import { cachesOf } from "./caches.js";
import { Wire } from "./wire.js";

export { follow } from "./wire.js";

/** Reads the list of bindings, and makes env from it. */
export async function connect(server) {
  const wire = new Wire(server);
  const answer = await wire.call({ binding: "env", method: "GET", path: "/" });
  const spec = JSON.parse(await answer.text());
  for (const binding of Object.values(spec)) if (binding.id !== undefined) binding.id = bind(wire, binding.id);
  return { env: makeEnv(spec), caches: cachesOf(wire), wire };
}
