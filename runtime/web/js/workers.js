// The classes of the module cloudflare:workers. A library may import or extend any of them in code
// that this platform never runs, so that all exist; those of products that the platform lacks
// cannot be constructed.

export class WorkerEntrypoint {
  constructor(ctx, env) {
    Object.defineProperty(this, "ctx", { value: ctx, writable: true, configurable: true });
    Object.defineProperty(this, "env", { value: env, writable: true, configurable: true });
  }
}

export class RpcTarget {}

function absent(name, product) {
  return {
    [name]: class {
      constructor() {
        throw new TypeError(`Failed to construct '${name}': this platform has no ${product}`);
      }
    },
  }[name];
}

export const DurableObject = absent("DurableObject", "Durable Objects");
export const WorkflowEntrypoint = absent("WorkflowEntrypoint", "Workflows");
export const RpcStub = absent("RpcStub", "remote procedure calls");
export const RpcPromise = absent("RpcPromise", "remote procedure calls");
export const RpcProperty = absent("RpcProperty", "remote procedure calls");
export const ServiceStub = absent("ServiceStub", "service bindings");

// That of the module cloudflare:sockets, which clients of databases import.
export function connect() {
  throw new TypeError(
    "connect: this platform has no sockets; use fetch, with a client that speaks HTTP, or bindings.database",
  );
}
