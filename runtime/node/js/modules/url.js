// As the package unenv has it, with its missing parts of Node.js and the platform.
import legacy from "unenv/node/url";
import { NodeError, needObject } from "node:internal/errors";
import * as punycode from "node:punycode";

export * from "unenv/node/url";
/** @type {any} */
const all = legacy;
const { format: formatParts } = all;
/** @type {any} */
const { toUnicode } = punycode;

/** The text of a URL or of an object of its parts. For a URL, options can omit parts, and write its host in Unicode. */
export function format(url, options) {
  if (!(url instanceof URL)) return formatParts(url);
  if (options !== undefined && options !== null) needObject(options, "options");
  const shown = new URL(url.href);
  if (!(options?.fragment ?? true)) shown.hash = "";
  if (!(options?.search ?? true)) shown.search = "";
  if (!(options?.auth ?? true)) shown.username = shown.password = "";
  const { href, protocol, username, password, hostname } = shown;
  if (!options?.unicode || hostname === "") return href;
  const who = password === "" ? username : `${username}:${password}`;
  const start = protocol.length + 2 + (who === "" ? 0 : who.length + 1);
  return `${href.slice(0, start)}${toUnicode(hostname)}${href.slice(start + hostname.length)}`;
}

/** A host as written in a URL; "" for an invalid one. */
export function domainToASCII(domain) {
  if (arguments.length === 0) throw NodeError(TypeError, "ERR_MISSING_ARGS", 'The "domain" argument must be specified');
  const [one, other] = ["ws://a", "ws://b"].map((base) => {
    const url = new URL(base); // an empty value keeps the host
    url.hostname = domain;
    return url.hostname;
  });
  return one === other ? one : "";
}

/** A host as people read it; "" for an invalid one. */
export function domainToUnicode(domain) {
  return toUnicode(domainToASCII(...arguments));
}

/** The path of a file URL; other values unchanged. */
export function toPathIfFileURL(value) {
  return value instanceof URL ? all.fileURLToPath(value) : value;
}

export default Object.assign(all, { format, domainToASCII, domainToUnicode });
