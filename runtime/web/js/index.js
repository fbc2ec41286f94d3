// Installs the web's globals. What is not here is not there: code can ask.
import * as abort from "./abort.js";
import * as atomics from "./atomics.js";
import * as blob from "./blob.js";
import * as cache from "./cache.js";
import * as clone from "./clone.js";
import * as compression from "./compression.js";
import * as console from "./console.js";
import * as crypto from "./crypto.js";
import * as cryptokey from "./cryptokey.js";
import * as encoding from "./encoding.js";
import * as event from "./event.js";
import * as events from "./events.js";
import * as eventsource from "./eventsource.js";
import * as fetch from "./fetch.js";
import * as formdata from "./formdata.js";
import * as headers from "./headers.js";
import * as htmlrewriter from "./htmlrewriter.js";
import * as intl from "./intl.js";
import * as json from "./json.js";
import * as language from "./language.js";
import * as message from "./message.js";
import * as performance from "./performance.js";
import * as quota from "./quota.js";
import * as request from "./request.js";
import * as response from "./response.js";
import * as scope from "./scope.js";
import * as streams from "./streams.js";
import * as timers from "./timers.js";
import * as url from "./url.js";
import * as urlpattern from "./urlpattern.js";
import * as webassembly from "./webassembly.js";
import * as weakref from "./weakref.js";
import * as websocket from "./websocket.js";
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
  worker,
])
  part.install();

export { handled, rejected } from "./scope.js";
export { noteMatches } from "./regexp.js";
export { letGo } from "./weakref.js";
export { socket } from "./websocket.js";
export {
  called as wasmCall,
  caught as wasmCaught,
  error as wasmError,
  grown as wasmGrown,
  lost as wasmLost,
  slot as wasmSlot,
  thrown as wasmThrown,
} from "./webassembly.js";
export { blank } from "./encoding.js";
export { backtrace, begin, cancel, dispatch, forget, provide } from "./worker.js";
