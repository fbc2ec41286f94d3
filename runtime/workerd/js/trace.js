// Where the code is, as V8 tells it.
const Trace = Error; // the author may put another in its place
const { captureStackTrace } = Error;

/** The stack, innermost first, of at most so many frames; "" when it cannot be had. */
export function trace(frames) {
  const { stackTraceLimit, prepareStackTrace } = Trace;
  const here = { stack: "" };
  try {
    Trace.stackTraceLimit = frames;
    if (prepareStackTrace !== undefined) Trace.prepareStackTrace = undefined;
    captureStackTrace(here, trace);
    return here.stack.slice(here.stack.indexOf("\n") + 1);
  } catch {
    // the author froze Error
    return "";
  } finally {
    restore(stackTraceLimit, prepareStackTrace);
  }
}

function restore(limit, prepare) {
  try {
    Trace.stackTraceLimit = limit;
    if (prepare !== undefined) Trace.prepareStackTrace = prepare;
  } catch {} // then it was not changed either
}
