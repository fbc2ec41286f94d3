// Where the code is.
import { keepStack, nameOf } from "./stack.js";

const Trace = Error; // the author may put another in its place

/** The engine's own accessor of stacks, which language.js wraps. */
export const preparing = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");

const { apply } = Reflect;
const { get: stackOf } = Object.getOwnPropertyDescriptor(Error.prototype, "stack"); // language.js removes it
function preparer() {
  return apply(preparing.get, Trace, []);
}
function prepareBy(f) {
  apply(preparing.set, Trace, [f]);
}

/** The stack, innermost first, of at most so many frames; "" when it cannot be had. */
export function trace(frames) {
  const { stackTraceLimit } = Trace,
    prepare = preparer();
  try {
    Trace.stackTraceLimit = frames;
    if (prepare !== undefined) prepareBy(undefined);
    return apply(stackOf, new Trace(), []);
  } catch {
    // the author froze Error
    return "";
  } finally {
    restore(stackTraceLimit, prepare);
  }
}

const FRAMES = 10; // the first ones are ours

/**
 * The host's result. Its errors get the stack of this call, since the host creates them without
 * lines of the Worker.
 */
export function located(answer) {
  const here = trace(FRAMES);
  return answer.then(undefined, (error) => {
    throw placed(error, here);
  });
}

/** Where the code is, for placed. */
export function position() {
  return trace(FRAMES);
}

/** The error with the stack of a call, unless it knows a line itself. */
export function placed(error, here) {
  const { stack } = error;
  return typeof stack !== "string" || stack.includes("\n    at ") ? error : called(error, here);
}

/** The error with the stack of a call, in place of its own lines, which are ours. */
export function called(error, here) {
  const at = here.indexOf("    at ");
  if (at !== -1) keepStack(error, `${error}\n${here.slice(at).trimEnd()}`, nameOf(error));
  return error;
}

// The function that prepared the last stack: released, it would be freed with everything that it
// alone refers to, at the end of a budget.
// biome-ignore lint/correctness/noUnusedVariables: never read, only held
let last;

/** The same before the engine's own last exception, which must be as long. */
export function lastTrace(frames) {
  try {
    last = preparer();
    Trace.stackTraceLimit = frames;
    prepareBy(undefined);
  } catch {} // the author froze Error
  return apply(stackOf, new Trace(), []);
}

function restore(limit, prepare) {
  try {
    Trace.stackTraceLimit = limit;
    if (prepare !== undefined) prepareBy(prepare);
  } catch {} // then it was not changed either
}
