// util.MIMEType, by https://mimesniff.spec.whatwg.org/#parsing-a-mime-type.
import { invalidValue, NodeError } from "node:internal/errors";

const token = /^[!#$%&'*+\-.^_`|~\w]+$/,
  value = /^[\t\x20-\x7e\x80-\xff]*$/;

function syntax(part, text, at) {
  return NodeError(
    TypeError,
    "ERR_INVALID_MIME_SYNTAX",
    `The MIME syntax for a ${part} in "${text}" is invalid${at >= 0 ? ` at ${at}` : ""}`,
  );
}

/** The parameters of a MIMEType, in order. */
export class MIMEParams {
  #list = new Map();
  get(name) {
    return this.#list.get(`${name}`) ?? null;
  }
  has(name) {
    return this.#list.has(`${name}`);
  }
  set(name, text) {
    const key = `${name}`,
      data = `${text}`;
    if (!token.test(key)) throw invalidValue("name", key, "is not a token of HTTP");
    if (!value.test(data)) throw invalidValue("value", data, "cannot be quoted");
    this.#list.set(key, data);
  }
  delete(name) {
    this.#list.delete(`${name}`);
  }
  entries() {
    return this.#list.entries();
  }
  keys() {
    return this.#list.keys();
  }
  values() {
    return this.#list.values();
  }
  [Symbol.iterator]() {
    return this.#list.entries();
  }
  toString() {
    return [...this.#list]
      .map(([name, text]) => `${name}=${token.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`}`)
      .join(";");
  }
  toJSON() {
    return this.toString();
  }
}

// Reads ";name=value" and ";name=\"quoted\"" until the end; malformed parameters are left out.
function read(params, text) {
  const piece = /;[\t\n\r ]*([^;=]*)(?:=("(?:\\[\s\S]|[^"\\])*"?[^;]*|[^;]*))?/y;
  for (let hit; (hit = piece.exec(text)) !== null; ) {
    const name = hit[1].toLowerCase();
    let data = hit[2];
    if (data === undefined) continue;
    if (data.startsWith('"')) data = /^"((?:\\[\s\S]|[^"\\])*)/.exec(data)[1].replace(/\\([\s\S])/g, "$1");
    else if ((data = data.replace(/[\t\n\r ]+$/, "")) === "") continue;
    if (token.test(name) && value.test(data) && !params.has(name)) params.set(name, data);
  }
}

/** A type, a subtype and parameters. */
export class MIMEType {
  #type;
  #subtype;
  #params = new MIMEParams();
  constructor(input) {
    const text = `${input}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    const slash = text.indexOf("/"),
      end = text.indexOf(";");
    const type = slash < 0 ? text : text.slice(0, slash);
    if (slash < 0 || !token.test(type))
      throw syntax("type", text, slash < 0 ? -1 : [...type].findIndex((c) => !token.test(c)));
    const subtype = text.slice(slash + 1, end < 0 ? undefined : end).replace(/[\t\n\r ]+$/, "");
    if (!token.test(subtype))
      throw syntax("subtype", text, subtype === "" ? -1 : slash + 1 + [...subtype].findIndex((c) => !token.test(c)));
    this.#type = type.toLowerCase();
    this.#subtype = subtype.toLowerCase();
    if (end >= 0) read(this.#params, text.slice(end));
  }
  get type() {
    return this.#type;
  }
  set type(text) {
    if (!token.test(`${text}`)) throw syntax("type", text, -1);
    this.#type = `${text}`.toLowerCase();
  }
  get subtype() {
    return this.#subtype;
  }
  set subtype(text) {
    if (!token.test(`${text}`)) throw syntax("subtype", text, -1);
    this.#subtype = `${text}`.toLowerCase();
  }
  get essence() {
    return `${this.#type}/${this.#subtype}`;
  }
  get params() {
    return this.#params;
  }
  toString() {
    const params = this.#params.toString();
    return params === "" ? this.essence : `${this.essence};${params}`;
  }
  toJSON() {
    return this.toString();
  }
}

export default MIMEType;
