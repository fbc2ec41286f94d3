// https://nodejs.org/api/http.html#class-httpagent: the settings of connections.
// The platform keeps the connections themselves, so none of them does anything.
import { EventEmitter } from "node:events";
import { createNotImplementedError } from "node:internal/absent";
import { invalidValue, needNumber } from "node:internal/errors";

export class Agent extends EventEmitter {
  static defaultMaxSockets = Infinity;

  constructor(options) {
    super();
    const {
      defaultPort,
      protocol,
      keepAlive,
      keepAliveMsecs,
      maxFreeSockets,
      maxSockets,
      maxTotalSockets = Infinity,
      scheduling = "lifo",
    } = options ?? {};
    if (scheduling !== "fifo" && scheduling !== "lifo")
      throw invalidValue("scheduling", scheduling, "must be one of: 'fifo', 'lifo'");
    needNumber(maxTotalSockets, "maxTotalSockets", 1);
    this.options = { __proto__: null, noDelay: true, path: null, ...options };
    this.defaultPort = defaultPort || 80;
    this.protocol = protocol || "http:";
    this.requests = { __proto__: null };
    this.sockets = { __proto__: null };
    this.freeSockets = { __proto__: null };
    this.keepAliveMsecs = keepAliveMsecs || 1000;
    this.keepAlive = keepAlive || false;
    this.maxSockets = maxSockets || Agent.defaultMaxSockets;
    this.maxFreeSockets = maxFreeSockets || 256;
    this.scheduling = scheduling;
    this.maxTotalSockets = maxTotalSockets;
    this.totalSocketCount = 0;
  }

  /**
   * The name of the connections that requests with these options may share.
   * @param {any} [options]
   */
  getName({ host, port, localAddress, family, socketPath } = {}) {
    const name = `${host || "localhost"}:${port || ""}:${localAddress || ""}${family === 4 || family === 6 ? `:${family}` : ""}`;
    return socketPath ? `${name}:${socketPath}` : name;
  }

  createConnection() {
    throw createNotImplementedError("http.Agent.createConnection");
  }
  addRequest() {}
  createSocket() {}
  removeSocket() {}
  keepSocketAlive() {
    return false;
  }
  reuseSocket() {}
  destroy() {}
}

// The options that identify a TLS connection, in the order of its name.
const SECURE = [
  "ca",
  "cert",
  "clientCertEngine",
  "ciphers",
  "key",
  "pfx",
  "rejectUnauthorized",
  "servername",
  "minVersion",
  "maxVersion",
  "secureProtocol",
  "crl",
  "honorCipherOrder",
  "ecdhCurve",
  "dhparam",
  "secureOptions",
  "sessionIdContext",
  "sigalgs",
  "privateKeyIdentifier",
  "privateKeyEngine",
];

/** The Agent of https. */
export class SecureAgent extends Agent {
  constructor(options) {
    super({ defaultPort: 443, protocol: "https:", ...options });
    this.maxCachedSessions = this.options.maxCachedSessions ?? 100;
  }

  getName(options = {}) {
    const told = SECURE.map((key) => {
      const value = options[key];
      if (key === "servername" && value === options.host) return "";
      if (key === "sigalgs" && value) return JSON.stringify(value);
      return value || (value === false && key === "rejectUnauthorized") ? `${value}` : "";
    });
    return [super.getName(options), ...told].join(":");
  }
}
Object.defineProperty(SecureAgent, "name", { value: "Agent" });

const shared = { keepAlive: true, scheduling: "lifo", timeout: 5000 };
export const globalAgent = new Agent(shared);
export const secureGlobalAgent = new SecureAgent(shared);

export default Agent;
