// The errors of requests without a response, made from the errors of fetch.
import { NodeError } from "node:internal/errors";
import systemErrors from "node:internal/systemerrors";

/** @type {[RegExp, string, string][]} */
const causes = [
  [/connection refused|actively refused/, "ECONNREFUSED", "connect"],
  [/no name server knows/, "ENOTFOUND", "getaddrinfo"],
  [/server misbehaving|temporary failure/i, "EAI_AGAIN", "getaddrinfo"],
  [/network is unreachable/, "ENETUNREACH", "connect"],
  [/no route to host/, "EHOSTUNREACH", "connect"],
  [/reset by peer|forcibly closed/, "ECONNRESET", "read"],
  [/broken pipe/, "EPIPE", "write"],
  [/timed out|timeout/, "ETIMEDOUT", "connect"],
];
const numbers = new Map([...systemErrors].map(([number, [name]]) => [name, number]));

/** The error of a connection that ended before the response arrived. */
export function hangUp(cause) {
  return withCause(NodeError(Error, "ECONNRESET", "socket hang up"), cause);
}

/** The error of an unknown name. */
export function notFound(hostname, cause) {
  return system("ENOTFOUND", "getaddrinfo", hostname, { hostname }, cause);
}

/**
 * Converts an error of fetch to a host into that of Node.js; an error without a counterpart, such as a refusal of the guard, stays as
 * it is.
 */
export function lost(error, host) {
  const text = /^(?:Network connection lost\. )?fetch to ".*?" failed: (.*)$/s.exec(error?.message)?.[1];
  if (text === undefined) return error;
  const known = causes.find(([pattern]) => pattern.test(text));
  if (known === undefined) return /\bEOF\b|closed/.test(text) ? hangUp(error) : error;
  const [, code, call] = known;
  if (call === "getaddrinfo") return system(code, call, host, { hostname: host }, error);
  const to = call === "connect" ? /^dial \w+ \[?([^\]\s]*?)\]?:(\d+): /.exec(text) : null;
  if (to === null) return system(code, call, "", {}, error);
  const [, address, port] = to;
  return system(code, call, `${address}:${port}`, { address, port: Number(port) }, error);
}

function system(code, syscall, at, more, cause) {
  const error = NodeError(Error, code, `${syscall} ${code} ${at}`.trimEnd());
  Object.assign(error, { errno: numbers.get(code) ?? -3008, syscall, ...more });
  return withCause(error, cause);
}

function withCause(error, cause) {
  if (cause !== undefined) error.cause = cause;
  return error;
}

export default lost;
