// Where the code is.

const Trace = Error; // the author may put another in its place

/** The stack, innermost first, of at most so many frames; "" when it cannot be had. */
export function trace(frames) {
  const { stackTraceLimit, prepareStackTrace } = Trace;
  try {
    Trace.stackTraceLimit = frames;
    if (prepareStackTrace !== undefined) Trace.prepareStackTrace = undefined;
    return new Trace().stack;
  } catch { // the author froze Error
    return "";
  } finally {
    restore(stackTraceLimit, prepareStackTrace);
  }
}

// What prepared stacks up to the last one: let go of, it would be taken apart with all that
// it alone refers to, at the end of a budget.
let last;

/** The same where nothing comes after it but the engine's own last exception, which is to be as long. */
export function lastTrace(frames) {
  try {
    last = Trace.prepareStackTrace;
    Trace.stackTraceLimit = frames;
    Trace.prepareStackTrace = undefined;
  } catch {} // the author froze Error
  return new Trace().stack;
}

function restore(limit, prepare) {
  try {
    Trace.stackTraceLimit = limit;
    if (prepare !== undefined) Trace.prepareStackTrace = prepare;
  } catch {} // then it was not changed either
}
