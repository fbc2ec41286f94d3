// The host writes the JSON of plain data, directly from the engine's memory. The engine writes the rest: values with getters, toJSON or a
// trap, or with a replacer. Syntax errors have V8's messages.
import { writing } from "./circle.js";
import { host } from "../../webidl/js/host.js";
import { parsed } from "./wording.js";

const { parse, stringify } = JSON,
  { apply } = Reflect;
const { slice, isWellFormed, repeat } = String.prototype;
const { min, trunc } = Math;

const longText = 32; // units of a text from which on the host writes it
const widest = 10; // ECMA-262, 25.5.2, step 6

// The indent of each level; undefined when it is not plain.
function gapOf(space) {
  switch (typeof space) {
    case "undefined":
      return "";
    case "number":
      return space >= 1 ? apply(repeat, " ", [min(widest, trunc(space))]) : "";
    case "string": {
      const gap = apply(slice, space, [0, widest]);
      return apply(isWellFormed, gap, []) ? gap : undefined;
    }
    default:
      return space === null ? "" : undefined;
  }
}

export function install() {
  const methods = {
    parse(text, reviver) {
      return parsed(parse, typeof text === "string" ? text : `${text}`, reviver);
    },
    stringify(value, replacer, space) {
      const kind = typeof value;
      if (
        ((kind === "object" && value !== null) || (kind === "string" && value.length >= longText)) &&
        (replacer === undefined ||
          replacer === null ||
          (typeof replacer !== "function" && typeof replacer !== "object"))
      ) {
        const gap = space === undefined ? "" : gapOf(space),
          text = gap === undefined ? undefined : host.json_text(value, gap);
        if (text !== undefined) return text;
      }
      return writing(stringify, value, replacer, space);
    },
  };
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(JSON, name, { value, writable: true, enumerable: false, configurable: true });
}
