// The script that every isolate has evaluated before the Worker: it installs
// the globals, and its default export are the entry points that Go calls.
import {
  backtrace,
  begin,
  blank,
  cancel,
  dispatch,
  finalize,
  forget,
  handled,
  letGo,
  letGoAll,
  noteMatches,
  provide,
  rejected,
  socket,
  wasmCall,
  wasmCaught,
  wasmError,
  wasmGrown,
  wasmLost,
  wasmSlot,
  wasmThrown,
} from "./web/js/index.js";
import { follow, leave, node } from "./node/js/prelude.js";
import { makeEnv } from "./binding/js/index.js";

delete globalThis.__host;

export default {
  /** Fills env from the JSON of its specification, before the Worker's module is evaluated. */
  provide(envSpec) {
    provide(makeEnv, envSpec);
  },
  /** Takes the Worker's evaluated module. */
  start(namespace, envSpec) {
    provide(makeEnv, envSpec);
    begin(namespace);
  },
  dispatch,
  cancel,
  forget,
  rejected,
  handled,
  socket,
  backtrace,
  blank,
  finalize,
  letGo,
  letGoAll,
  noteMatches,
  wasmCall,
  wasmCaught,
  wasmError,
  wasmGrown,
  wasmLost,
  wasmSlot,
  wasmThrown,
  node,
  follow,
  leave,
};
