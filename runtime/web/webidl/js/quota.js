// https://webidl.spec.whatwg.org/#quotaexceedederror
import "./exception.js";
import { define } from "./idl.js";

export class QuotaExceededError extends DOMException {
  #quota = null;
  #requested = null;
  constructor(message = "", options = {}) {
    super(`${message}`, "QuotaExceededError");
    this.#quota = amount(options?.quota, "quota");
    this.#requested = amount(options?.requested, "requested");
    if (this.#quota !== null && this.#requested !== null && this.#requested < this.#quota) {
      throw new RangeError("QuotaExceededError: requested is less than the quota");
    }
  }
  get quota() {
    return this.#quota;
  }
  get requested() {
    return this.#requested;
  }
}

function amount(value, name) {
  if (value === undefined) return null;
  const number = +value;
  if (!Number.isFinite(number)) throw new TypeError(`QuotaExceededError: ${name} is not a finite number`);
  if (number < 0) throw new RangeError(`QuotaExceededError: ${name} is negative`);
  return number;
}

export function install() {
  define("QuotaExceededError", QuotaExceededError);
}
