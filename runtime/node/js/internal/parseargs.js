// util.parseArgs, https://nodejs.org/api/util.html#utilparseargsconfig.
import { invalidType, invalidValue, needBoolean, needObject, needString, NodeError } from "node:internal/errors";

function check(options) {
  for (const [name, option] of Object.entries(options)) {
    needObject(option, `options.${name}`);
    if (option.type !== "string" && option.type !== "boolean")
      throw NodeError(
        TypeError,
        "ERR_INVALID_ARG_TYPE",
        `The "options.${name}.type" property must be one of: 'string|boolean'.`,
      );
    if (option.short !== undefined) {
      needString(option.short, `options.${name}.short`);
      if (option.short.length !== 1)
        throw invalidValue(`options.${name}.short`, option.short, "must be a single character");
    }
    if (option.multiple !== undefined) needBoolean(option.multiple, `options.${name}.multiple`);
    const value = option.default;
    for (const item of value === undefined ? [] : option.multiple ? [value].flat() : [value]) {
      if (typeof item !== option.type) throw invalidType(`options.${name}.default`, option.type, item);
    }
  }
}

const isOption = (text) => text !== undefined && text.length > 1 && text.startsWith("-");

// The arguments as tokens: options, positionals and "--".
function tokenize(args, options) {
  const tokens = [],
    queue = args.map((value, index) => ({ value, index }));
  const long = (short) => Object.keys(options).find((name) => options[name].short === short) ?? short;
  const takes = (name) => options[name]?.type === "string";
  for (let item; (item = queue.shift()) !== undefined; ) {
    const { value: arg, index } = item;
    const following = () => (queue.length > 0 && queue[0].index > index ? queue[0].value : undefined);
    const option = (name, rawName) => {
      const next = takes(name) ? following() : undefined;
      if (next !== undefined) queue.shift();
      tokens.push({
        kind: "option",
        name,
        rawName,
        index,
        value: next,
        inlineValue: next === undefined ? undefined : false,
      });
    };
    if (arg === "--") {
      tokens.push({ kind: "option-terminator", index });
      for (const rest of queue) tokens.push({ kind: "positional", index: rest.index, value: rest.value });
      break;
    }
    if (/^-[^-]$/.test(arg)) {
      option(long(arg[1]), arg);
    } else if (/^-[^-]./.test(arg)) {
      const name = long(arg[1]);
      if (takes(name))
        tokens.push({ kind: "option", name, rawName: `-${arg[1]}`, index, value: arg.slice(2), inlineValue: true });
      else queue.unshift({ value: `-${arg[1]}`, index }, { value: `-${arg.slice(2)}`, index });
    } else if (/^--[^=]+=/.test(arg) && arg.length > 3) {
      const at = arg.indexOf("=");
      tokens.push({
        kind: "option",
        name: arg.slice(2, at),
        rawName: arg.slice(0, at),
        index,
        value: arg.slice(at + 1),
        inlineValue: true,
      });
    } else if (arg.startsWith("--")) {
      option(arg.slice(2), arg);
    } else {
      tokens.push({ kind: "positional", index, value: arg });
    }
  }
  return tokens;
}

function refuse(token, options, allowPositionals, allowNegative) {
  const { name } = token;
  if (!Object.hasOwn(options, name)) {
    if (allowNegative && name.startsWith("no-") && options[name.slice(3)]?.type === "boolean") return;
    const hint = allowPositionals
      ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', ` +
        `as in '-- "${token.rawName}"`
      : "";
    throw NodeError(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${token.rawName}'${hint}`);
  }
  const { short, type } = options[name];
  const shown = `${short ? `-${short}, ` : ""}--${name}`;
  if (type === "string" && typeof token.value !== "string")
    throw NodeError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${shown} <value>' argument missing`);
  if (type === "boolean" && token.value !== undefined)
    throw NodeError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${shown}' does not take an argument`);
  if (type === "string" && !token.inlineValue && isOption(token.value)) {
    const example = token.rawName.startsWith("--")
      ? `'${token.rawName}=-XYZ'`
      : `'--${name}=-XYZ' or '${token.rawName}-XYZ'`;
    throw NodeError(
      TypeError,
      "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
      `Option '${token.rawName}' argument is ambiguous.\n` +
        `Did you forget to specify the option argument for '${token.rawName}'?\n` +
        `To specify an option argument starting with a dash use ${example}.`,
    );
  }
}

export default function parseArgs(config = {}) {
  needObject(config, "config");
  const {
    args = [],
    options = {},
    strict = true,
    allowPositionals = !strict,
    allowNegative = false,
    tokens: wanted = false,
  } = config;
  if (!Array.isArray(args)) throw invalidType("args", "Array", args);
  for (const [name, flag] of Object.entries({ strict, allowPositionals, allowNegative, tokens: wanted }))
    needBoolean(flag, name);
  needObject(options, "options");
  check(options);
  const values = Object.create(null),
    positionals = [];
  const tokens = tokenize(args.map(String), options);
  for (const token of tokens) {
    if (token.kind === "option") {
      if (strict) refuse(token, options, allowPositionals, allowNegative);
      let { name, value } = token;
      if (allowNegative && value === undefined && !Object.hasOwn(options, name) && name.startsWith("no-")) {
        name = name.slice(3);
        value = false;
      }
      if (name === "__proto__") continue;
      value ??= true;
      if (options[name]?.multiple) (values[name] ??= []).push(value);
      else values[name] = value;
    } else if (token.kind === "positional") {
      if (!allowPositionals)
        throw NodeError(
          TypeError,
          "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL",
          `Unexpected argument '${token.value}'. This command does not take positional arguments`,
        );
      positionals.push(token.value);
    }
  }
  for (const [name, option] of Object.entries(options)) {
    if (option.default !== undefined && values[name] === undefined) values[name] = option.default;
  }
  return wanted ? { values, positionals, tokens } : { values, positionals };
}
