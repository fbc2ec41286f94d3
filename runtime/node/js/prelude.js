// The part of the prelude for Node.js: the globals of a Worker with the flag nodejs_compat, and the entry points that follow asynchronous
// code.
import { host } from "../../web/webidl/js/host.js";
import * as inspection from "../../web/console/js/inspect.js";
import { caution } from "../../web/language/js/caution.js";
import { slotsOf } from "../../web/webcrypto/js/cryptokey.js";
import * as kinds from "../../web/webidl/js/kinds.js";

// The parts of the prelude that the modules share. node:async_hooks sets follow and leave.
const internals = {
  material,
  call: host.node,
  inspection,
  kinds,
  decode: host.text_decode,
  log: host.console_log,
  caution,
  clock: host.clock_now,
  coder: { step: host.codec_step, rest: host.codec_rest, close: host.codec_close },
  follow: undefined,
  leave: undefined,
};

// The type of a CryptoKey and its bytes, which a Worker must not see.
function material(key) {
  const { handle } = slotsOf(key),
    type = handle[1];
  return [type, host.crypto_export({ secret: "raw", public: "spki", private: "pkcs8" }[type], handle)];
}

/** Gives the modules of Node.js access once; they remove it afterwards. */
export function node() {
  Object.defineProperty(globalThis, Symbol.for("pages.node"), { value: internals, configurable: true });
}

/** The function that runs in place of f in a later job. */
export function follow(f) {
  return internals.follow(f);
}

/** Ends the context that the job followed. */
export function leave() {
  internals.leave();
}
