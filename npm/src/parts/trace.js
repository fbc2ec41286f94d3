// The position of the code in V8's form: stacks become text when they are read.

/** The present position in the code, for placed. */
export function position() {
  const here = { stack: "" };
  Error.captureStackTrace(here, position);
  return here;
}

/** The error with the stack of a call: the bindings make their errors outside of the caller's lines. */
export function placed(error, here) {
  const frames = here.stack.slice(here.stack.indexOf("\n") + 1);
  Object.defineProperty(error, "stack", { value: `${error}\n${frames}`, configurable: true, writable: true });
  return error;
}

/** The result of the bindings. A refusal has the stack of this call. */
export function located(answer) {
  const here = { stack: "" };
  Error.captureStackTrace(here, located);
  return answer.then(undefined, (error) => {
    throw placed(error, here);
  });
}
