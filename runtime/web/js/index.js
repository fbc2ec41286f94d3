// Installs the web's globals. Other globals do not exist, so feature detection works.
import * as abort from "../events/js/abort.js";
import * as atomics from "../language/js/atomics.js";
import * as blob from "../formdata/js/blob.js";
import * as cache from "../cache/js/cache.js";
import * as clone from "../messaging/js/clone.js";
import * as compression from "../compression/js/compression.js";
import * as console from "../console/js/console.js";
import * as crypto from "../webcrypto/js/crypto.js";
import * as cryptokey from "../webcrypto/js/cryptokey.js";
import * as encoding from "../textcodec/js/encoding.js";
import * as event from "../events/js/event.js";
import * as events from "../events/js/events.js";
import * as eventsource from "../fetch/js/eventsource.js";
import * as finalization from "../language/js/finalization.js";
import * as fetch from "../fetch/js/fetch.js";
import * as formdata from "../formdata/js/formdata.js";
import * as headers from "../fetch/js/headers.js";
import * as htmlrewriter from "../htmlrewriter/js/htmlrewriter.js";
import * as intl from "../../intl/js/intl.js";
import * as json from "../language/js/json.js";
import * as language from "../language/js/language.js";
import * as message from "../messaging/js/message.js";
import * as performance from "./performance.js";
import * as quota from "../webidl/js/quota.js";
import * as request from "../fetch/js/request.js";
import * as response from "../fetch/js/response.js";
import * as scope from "./scope.js";
import * as streams from "../streams/js/streams.js";
import * as timers from "../timers/js/timers.js";
import * as url from "../weburl/js/url.js";
import * as urlpattern from "../urlpattern/js/urlpattern.js";
import * as webassembly from "../../wasm/js/webassembly.js";
import * as weakref from "../language/js/weakref.js";
import * as websocket from "../socket/js/websocket.js";
import * as worker from "./worker.js";

for (const part of [
  language,
  json,
  event,
  events,
  abort,
  timers,
  console,
  encoding,
  url,
  urlpattern,
  headers,
  streams,
  blob,
  websocket,
  formdata,
  request,
  response,
  htmlrewriter,
  fetch,
  cache,
  eventsource,
  quota,
  cryptokey,
  crypto,
  compression,
  clone,
  message,
  performance,
  scope,
  webassembly,
  intl,
  atomics,
  weakref,
  finalization,
  worker,
])
  part.install();

export { handled, rejected } from "./scope.js";
export { noteMatches } from "../language/js/regexp.js";
export { finalize } from "../language/js/finalization.js";
export { letGo, letGoAll } from "../language/js/weakref.js";
export { socket } from "../socket/js/websocket.js";
export {
  called as wasmCall,
  caught as wasmCaught,
  error as wasmError,
  grown as wasmGrown,
  lost as wasmLost,
  slot as wasmSlot,
  thrown as wasmThrown,
} from "../../wasm/js/webassembly.js";
export { blank } from "../textcodec/js/encoding.js";
export { backtrace, begin, cancel, dispatch, forget, provide } from "./worker.js";
