// Streams, bodies and sockets belong to the request in which they were made, as
// on the platform: none is made while the module is evaluated, and a later
// request cannot use one. Code that passes here would fail there.

const alive = new Set(); // the numbers of the current requests, in the order of their start

let serving = false;
let newest = 0; // the request that began last
let oldest = 0; // the current request that began first

/** Called after the evaluation of the module: from now on the code runs for requests. */
export function serve() {
  serving = true;
}

/** Reports whether the code runs for requests. */
export function isServing() {
  return serving;
}

/** Counts a request that begins; leave takes the number. */
export function arrive() {
  alive.add(++newest);
  if (alive.size === 1) oldest = newest;
  return newest;
}

/** Forgets a request that has ended. */
export function leave(number) {
  alive.delete(number);
  if (number === oldest) oldest = alive.values().next().value ?? 0;
}

/** Refuses an object of requests while there is none. */
export function inRequest() {
  if (!serving) {
    throw new Error(
      "Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and " +
        "generating random values are not allowed within global scope. To fix this error, perform this operation within a handler.",
    );
  }
}

/** The mark of an object that is made now: no request that began after it is its owner. */
export function mark() {
  inRequest();
  return newest;
}

/** The mark of values without an owner. */
export const FREE = Infinity;

/** The reason why an object with this mark cannot be used; undefined while its owner may be running. */
export function foreign(made) {
  return made < oldest ? foreignError() : undefined;
}

export function foreignError() {
  return new Error(
    "Cannot perform I/O on behalf of a different request. I/O objects (such as streams, request/response bodies, and others) " +
      "created in the context of one request handler cannot be accessed from a different request's handler.",
  );
}
