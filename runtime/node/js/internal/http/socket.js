// The connection of a message. A web Request has no socket: this one has the client's address, and an event for its disconnect.
import { EventEmitter } from "node:events";
import { isIPv6 } from "node:net";

/** Socket is the connection of one request. facts become its properties; end(error) is called once when it closes. */
export class Socket extends EventEmitter {
  #from;
  #end;

  constructor({ remoteAddress, ...facts }, end) {
    super();
    this.#from = remoteAddress;
    this.#end = end;
    Object.assign(this, facts);
    this.connecting = false;
    this.destroyed = false;
    this.readable = true;
    this.writable = true;
  }

  get remoteAddress() {
    return this.destroyed ? undefined : this.#from;
  }
  get remoteFamily() {
    return this.destroyed ? undefined : isIPv6(this.#from) ? "IPv6" : "IPv4";
  }
  address() {
    return { address: this.localAddress, family: "IPv4", port: this.localPort };
  }

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

  /** Something was sent or came. */
  moved() {}

  // Settings of a connection that the platform keeps.
  setNoDelay() {
    return this;
  }
  setKeepAlive() {
    return this;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  cork() {}
  uncork() {}
}

export default Socket;
