// The position of the code, as V8 gives it: stacks become text when somebody reads them.

/** Where the code is, for placed. */
export function position() {
  const here = { stack: "" };
  Error.captureStackTrace(here, position);
  return here;
}

/** The error with the stack of a call: the bindings make their errors where none of the caller's lines are. */
export function placed(error, here) {
  const frames = here.stack.slice(here.stack.indexOf("\n") + 1);
  Object.defineProperty(error, "stack", { value: `${error}\n${frames}`, configurable: true, writable: true });
  return error;
}

/** The answer of the bindings. What they refuse has the stack of this call. */
export function located(answer) {
  const here = { stack: "" };
  Error.captureStackTrace(here, located);
  return answer.then(undefined, (error) => {
    throw placed(error, here);
  });
}
