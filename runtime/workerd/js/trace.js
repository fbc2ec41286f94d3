// The current place in the code, from V8.
const Trace = Error; // the author may replace it
const { captureStackTrace } = Error;

/** The stack, innermost first, with at most so many frames; "" if it is not available. */
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
  } catch {} // then it is unchanged
}
