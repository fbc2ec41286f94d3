// https://nodejs.org/api/assert.html
import { deepEqual as equal_ } from "node:internal/equal";
import { inspect } from "node:internal/inspect";
import { invalidType, invalidValue, needFunction, NodeError } from "node:internal/errors";

const shown = (value) =>
  inspect(value, {
    compact: false,
    customInspect: false,
    depth: 1000,
    maxArrayLength: Infinity,
    showHidden: false,
    showProxy: false,
    sorted: true,
    getters: true,
    breakLength: Infinity,
  });
const brief = (value) => inspect(value, { depth: 2 });

const headings = {
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  strictEqual: "Expected values to be strictly equal:",
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  deepEqual: "Expected values to be loosely deep-equal:",
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  partialDeepStrictEqual: "Expected values to be partially and strictly deep-equal:",
};

// The lines of two texts, with "+" before lines of the first alone and "-" before lines of the second alone.
function differences(actual, expected) {
  const a = actual.split("\n"),
    b = expected.split("\n");
  if (a.length * b.length > 250_000) return `+ ${a.join("\n+ ")}\n- ${b.join("\n- ")}`;
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--)
      table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  }
  const out = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(`  ${a[i]}`);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || table[i + 1][j] >= table[i][j + 1])) out.push(`+ ${a[i++]}`);
    else out.push(`- ${b[j++]}`);
  }
  return out.join("\n");
}

function messageOf({ actual, expected, operator }) {
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
  if (operator === "deepStrictEqual" || operator === "strictEqual" || operator === "partialDeepStrictEqual") {
    let a = shown(actual),
      b = shown(expected),
      heading = headings[operator];
    if (operator === "strictEqual") {
      if (isObject(actual) && isObject(expected)) heading = headings.strictEqualObject;
      if (a === b) return `Values have same structure but are not reference-equal:\n\n${a}\n`;
      if (
        !isObject(actual) &&
        !isObject(expected) &&
        !a.includes("\n") &&
        !b.includes("\n") &&
        a.length + b.length <= 40 &&
        (actual !== 0 || expected !== 0)
      )
        return `${heading}\n\n${a} !== ${b}\n`;
    }
    return `${heading}\n+ actual - expected\n\n${differences(a, b)}\n`;
  }
  if (operator === "notDeepStrictEqual" || operator === "notStrictEqual") {
    const text = shown(actual);
    const heading =
      operator === "notStrictEqual" && isObject(actual) ? headings.notStrictEqualObject : headings[operator];
    return text.includes("\n")
      ? `${heading}\n\n${text}\n`
      : `${heading}${text.length > 5 ? "\n\n" : " "}${text}${text.length > 5 ? "\n" : ""}`;
  }
  if (operator === "deepEqual")
    return `${headings.deepEqual}\n\n${shown(actual)}\n\nshould loosely deep-equal\n\n${shown(expected)}`;
  if (operator === "notDeepEqual")
    return `${headings.notDeepEqual}\n\n${shown(actual)}\n\nshould not loosely deep-equal\n\n${shown(expected)}`;
  return `${brief(actual)} ${operator} ${brief(expected)}`;
}

/** The error of a failed assertion. */
export class AssertionError extends Error {
  constructor(options) {
    if (options === null || typeof options !== "object") throw invalidType("options", "object", options);
    const { message, operator, actual, expected } = options;
    super(message === undefined || message === null ? messageOf(options) : `${message}`);
    this.generatedMessage = message === undefined || message === null;
    Object.defineProperty(this, "name", { value: "AssertionError", writable: true, configurable: true });
    this.code = "ERR_ASSERTION";
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }
  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}

function failed(details) {
  if (details.message instanceof Error) throw details.message;
  if (typeof details.message === "function") details.message = details.message(details.actual, details.expected);
  throw new AssertionError(details);
}

function needTwo(args) {
  if (args.length < 2)
    throw NodeError(TypeError, "ERR_MISSING_ARGS", 'The "actual" and "expected" arguments must be specified');
}

/** assert(value), which is ok(value) too. */
export function ok(...args) {
  truth(args);
}

function truth(args) {
  const [value, message] = args;
  if (value) return;
  if (args.length === 0)
    throw Object.assign(
      new AssertionError({
        message: "No value argument passed to `assert.ok()`",
        actual: undefined,
        expected: true,
        operator: "==",
      }),
      { generatedMessage: true },
    );
  if (message instanceof Error) throw message;
  const generated = message === undefined || message === null;
  const error = new AssertionError({
    actual: value,
    expected: true,
    operator: "==",
    message: generated ? "The expression evaluated to a falsy value" : message,
  });
  error.generatedMessage = generated;
  throw error;
}

function comparison(name, test, operator = name) {
  return {
    [name](actual, expected, message) {
      needTwo(arguments);
      if (!test(actual, expected)) failed({ actual, expected, message, operator });
    },
  }[name];
}

// biome-ignore lint/suspicious/noDoubleEquals: assert.equal compares so
const loose = (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b));
export const equal = comparison("equal", loose, "==");
export const notEqual = comparison("notEqual", (a, b) => !loose(a, b), "!=");
export const strictEqual = comparison("strictEqual", Object.is);
export const notStrictEqual = comparison("notStrictEqual", (a, b) => !Object.is(a, b));
export const deepEqual = comparison("deepEqual", (a, b) => equal_(a, b, false));
export const notDeepEqual = comparison("notDeepEqual", (a, b) => !equal_(a, b, false));
export const deepStrictEqual = comparison("deepStrictEqual", (a, b) => equal_(a, b, true));
export const notDeepStrictEqual = comparison("notDeepStrictEqual", (a, b) => !equal_(a, b, true));
export const partialDeepStrictEqual = comparison("partialDeepStrictEqual", (a, b) => equal_(a, b, true, true));

export function fail(message) {
  if (message instanceof Error) throw message;
  throw Object.assign(new AssertionError({ message: message ?? "Failed", operator: "fail" }), {
    generatedMessage: message === undefined,
  });
}

export function ifError(value) {
  if (value === null || value === undefined) return;
  const text =
    typeof value === "object" && typeof value.message === "string"
      ? value.message || value.constructor?.name
      : inspect(value);
  throw new AssertionError({
    actual: value,
    expected: null,
    operator: "ifError",
    message: `ifError got unwanted exception: ${text}`,
  });
}

function pattern(name, wanted) {
  return {
    [name](text, regexp, message) {
      if (Object.prototype.toString.call(regexp) !== "[object RegExp]") throw invalidType("regexp", "RegExp", regexp);
      if (typeof text === "string" && regexp.test(text) === wanted) return;
      const generated =
        typeof text !== "string"
          ? `The "string" argument must be of type string. Received type ${typeof text} (${brief(text)})`
          : `The input ${wanted ? "did not match" : "was expected to not match"} ` +
            `the regular expression ${inspect(regexp)}. Input:\n\n${inspect(text)}\n`;
      if (message instanceof Error) throw message;
      throw Object.assign(
        new AssertionError({ actual: text, expected: regexp, message: message ?? generated, operator: name }),
        { generatedMessage: message === undefined },
      );
    },
  }[name];
}

export const match = pattern("match", true);
export const doesNotMatch = pattern("doesNotMatch", false);

const nothing = Symbol("nothing");

function caught(f) {
  needFunction(f, "fn");
  try {
    f();
  } catch (error) {
    return error;
  }
  return nothing;
}

async function rejected(promiseOrFunction) {
  let promise = promiseOrFunction;
  if (typeof promise === "function") {
    promise = promise();
    if (typeof promise?.then !== "function")
      throw NodeError(
        TypeError,
        "ERR_INVALID_RETURN_VALUE",
        `Expected instance of Promise to be returned from the "promiseFn" function ` +
          `but got ${promise === null ? "null" : `type ${typeof promise}`}.`,
      );
  } else if (typeof promise?.then !== "function" || typeof promise.catch !== "function") {
    throw invalidType("promiseFn", ["Function", "Promise"], promise);
  }
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return nothing;
}

// Whether an error is the expected one, given as a class, a pattern, a function that checks it, or
// an object of properties.
function verify(actual, expected, message, operator) {
  if (expected === undefined) return;
  const refuse = (text) => {
    if (message instanceof Error) throw message;
    throw Object.assign(new AssertionError({ actual, expected, operator, message: message ?? text }), {
      generatedMessage: message === undefined,
    });
  };
  if (typeof expected !== "function") {
    if (Object.prototype.toString.call(expected) === "[object RegExp]") {
      if (!expected.test(`${actual}`))
        refuse(
          `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(`${actual}`)}\n`,
        );
      return;
    }
    if (typeof actual !== "object" || actual === null)
      refuse(
        `Expected values to be strictly deep-equal:\n+ actual - expected\n\n${differences(shown(actual), shown(expected))}\n`,
      );
    const keys = Object.keys(expected);
    if (expected instanceof Error) keys.push("name", "message");
    else if (keys.length === 0) throw invalidValue("error", expected, "may not be an empty object");
    for (const key of keys) {
      const fits =
        typeof actual[key] === "string" && Object.prototype.toString.call(expected[key]) === "[object RegExp]"
          ? expected[key].test(actual[key])
          : key in actual && equal_(actual[key], expected[key], true);
      if (fits) continue;
      const pick = (object) =>
        Object.fromEntries(keys.filter((name) => name in object).map((name) => [name, object[name]]));
      refuse(
        `Expected values to be strictly deep-equal:\n+ actual - expected\n\n${differences(shown(pick(actual)), shown(pick(expected)))}\n`,
      );
    }
    return;
  }
  if (expected.prototype !== undefined && actual instanceof expected) return;
  if (Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error) {
    const received =
      actual instanceof Error
        ? `"${actual.name}"\n\nError message:\n\n${actual.message}`
        : `"${inspect(actual, { depth: -1 })}"`;
    refuse(`The error is expected to be an instance of "${expected.name}". Received ${received}`);
  }
  const result = expected.call({}, actual);
  if (result !== true)
    refuse(
      `The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true". ` +
        `Received ${inspect(result)}${actual instanceof Error ? `\n\nCaught error:\n\n${actual}` : ""}`,
    );
}

function expects(actual, expected, message, operator) {
  if (typeof expected === "string") {
    if (message !== undefined) throw invalidType("error", ["object", "Error", "function", "RegExp"], expected);
    if (actual === expected || actual?.message === expected)
      throw NodeError(
        TypeError,
        "ERR_AMBIGUOUS_ARGUMENT",
        'The "error/message" argument is ambiguous. ' +
          `The error ${actual === expected ? `"${actual}"` : `message "${actual.message}"`} is identical to the message.`,
      );
    [message, expected] = [expected, undefined];
  } else if (
    expected !== undefined &&
    expected !== null &&
    typeof expected !== "object" &&
    typeof expected !== "function"
  ) {
    throw invalidType("error", ["object", "Error", "function", "RegExp"], expected);
  }
  if (actual === nothing) {
    const kind = operator === "rejects" ? "rejection" : "exception";
    failed({
      actual: undefined,
      expected,
      operator,
      message: `Missing expected ${kind}${expected?.name ? ` (${expected.name})` : ""}${message ? `: ${message}` : "."}`,
    });
  }
  verify(actual, expected, message, operator);
}

function expectsNone(actual, expected, message, operator) {
  if (actual === nothing) return;
  if (typeof expected === "string") [message, expected] = [expected, undefined];
  if (
    expected === undefined ||
    (typeof expected === "function"
      ? expected.prototype !== undefined && actual instanceof expected
      : expected.test(`${actual}`))
  ) {
    const kind = operator === "doesNotReject" ? "rejection" : "exception";
    failed({
      actual,
      expected,
      operator,
      message: `Got unwanted ${kind}${message ? `: ${message}` : "."}\nActual message: "${actual?.message}"`,
    });
  }
  throw actual;
}

export function throws(f, expected, message) {
  expects(caught(f), expected, message, "throws");
}
export function doesNotThrow(f, expected, message) {
  expectsNone(caught(f), expected, message, "doesNotThrow");
}
export async function rejects(promise, expected, message) {
  expects(await rejected(promise), expected, message, "rejects");
}
export async function doesNotReject(promise, expected, message) {
  expectsNone(await rejected(promise), expected, message, "doesNotReject");
}

/** Counts calls; without process.on("exit") in a Worker, verify() tells. */
export class CallTracker {
  #calls = [];
  calls(f, exact) {
    if (typeof f === "number") [f, exact] = [() => {}, f];
    const record = { f, exact: exact ?? 1, actual: 0, stack: new Error() };
    this.#calls.push(record);
    return (...args) => {
      record.actual++;
      return f?.apply(undefined, args);
    };
  }
  report() {
    return this.#calls
      .filter((c) => c.actual !== c.exact)
      .map((c) => ({
        message: `Expected the ${c.f?.name || "calls"} function to be executed ${c.exact} time(s) but was executed ${c.actual} time(s).`,
        actual: c.actual,
        expected: c.exact,
        operator: c.f?.name || "calls",
        stack: c.stack,
      }));
  }
  verify() {
    const found = this.report();
    if (found.length > 0)
      throw new AssertionError({
        message: found.length === 1 ? found[0].message : "Functions were not called the expected number of times",
        operator: "verify",
      });
  }
}

const functions = {
  fail,
  ok,
  equal,
  notEqual,
  deepEqual,
  notDeepEqual,
  deepStrictEqual,
  notDeepStrictEqual,
  strictEqual,
  notStrictEqual,
  partialDeepStrictEqual,
  throws,
  rejects,
  doesNotThrow,
  doesNotReject,
  ifError,
  match,
  doesNotMatch,
  AssertionError,
  CallTracker,
};

export function assert(...args) {
  truth(args);
}

/** assert whose plain comparisons are the strict ones. */
export function strict(...args) {
  truth(args);
}

/** The functions as methods of an object. */
export class Assert {
  constructor(options = {}) {
    const { strict: on = true } = options;
    Object.assign(
      this,
      functions,
      on
        ? { equal: strictEqual, deepEqual: deepStrictEqual, notEqual: notStrictEqual, notDeepEqual: notDeepStrictEqual }
        : {},
    );
  }
}

Object.assign(assert, functions, { Assert });
Object.assign(strict, functions, {
  Assert,
  equal: strictEqual,
  deepEqual: deepStrictEqual,
  notEqual: notStrictEqual,
  notDeepEqual: notDeepStrictEqual,
});
assert.strict = strict.strict = strict;
export default assert;
