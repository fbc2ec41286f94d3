// As the package unenv has it, with the platform's additions.
import { notImplementedClass } from "node:internal/absent";
import all from "unenv/node/net";

export * from "unenv/node/net";

export const Server = notImplementedClass("net.Server");
export const Socket = notImplementedClass("net.Socket");
export const Stream = Socket;

const part = /^(?:0|[1-9]\d{0,2})$/,
  group = /^[\dA-Fa-f]{1,4}$/;

export function isIPv4(input) {
  const parts = `${input}`.split(".");
  return parts.length === 4 && parts.every((text) => part.test(text) && Number(text) <= 255);
}

// RFC 4291, 2.2: eight groups; one :: replaces some, and the last two may be IPv4. RFC 4007, 11: then a zone.
export function isIPv6(input) {
  const [address, ...zone] = `${input}`.split("%");
  if (zone.length > 1 || (zone.length === 1 && !/^[\dA-Za-z.:-]+$/.test(zone[0]))) return false;
  const halves = address.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [i, half] of halves.entries()) {
    const texts = half === "" && halves.length === 2 ? [] : half.split(":");
    if (i === halves.length - 1 && texts.length > 0 && isIPv4(texts.at(-1))) texts.splice(-1, 1, "0", "0");
    if (!texts.every((text) => group.test(text))) return false;
    groups += texts.length;
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}

export function isIP(input) {
  return isIPv4(input) ? 4 : isIPv6(input) ? 6 : 0;
}

export const BoundSocket = notImplementedClass("net.BoundSocket");
export default { ...all, Server, Socket, Stream, isIP, isIPv4, isIPv6 };
