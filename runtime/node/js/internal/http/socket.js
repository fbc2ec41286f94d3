// What a message knows of its connection. There is no socket below a web
// Request: this one tells who asks, and when they go.
import { EventEmitter } from "node:events";
import { isIPv6 } from "node:net";

/** Socket is the connection of one request to a server that listens at localPort; end(error) is called once when it closes. */
export class Socket extends EventEmitter {
  #from;
  #end;

  constructor(request, localPort, end) {
    super();
    this.#from = request.headers.get("cf-connecting-ip") ?? "127.0.0.1";
    this.#end = end;
    this.encrypted = request.url.startsWith("https:");
    this.localAddress = request.headers.get("host") ?? "127.0.0.1";
    this.localPort = localPort;
    this.destroyed = false;
    this.readable = true;
    this.writable = true;
    this.remotePort = 32768 + Math.floor(Math.random() * 32768);
  }

  get remoteAddress() { return this.destroyed ? undefined : this.#from; }
  get remoteFamily() { return this.destroyed ? undefined : isIPv6(this.#from) ? "IPv6" : "IPv4"; }
  address() { return { address: this.localAddress, family: "IPv4", port: this.localPort }; }

  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.readable = this.writable = false;
    this.#end(error ?? null);
    process.nextTick(() => this.emit("close", Boolean(error)));
    return this;
  }

  setTimeout(milliseconds, callback) {
    if (callback) this.on("timeout", callback);
    return this;
  }

  // Settings of a connection that the platform keeps.
  setNoDelay() { return this; }
  setKeepAlive() { return this; }
  ref() { return this; }
  unref() { return this; }
  cork() {}
  uncork() {}
}

export default Socket;
