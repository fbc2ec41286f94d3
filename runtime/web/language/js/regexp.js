// The properties of RegExp for the last match ($1 … $9, lastMatch and so on: the annex B of browsers, kept by V8), which
// the engine does not note. Noting it makes every match slower, so that only a Worker whose code asks gets it.

const names = { input: "$_", lastMatch: "$&", lastParen: "$+", leftContext: "$`", rightContext: "$'" };

const values = {
  input: (last) => last.input,
  lastMatch: (last) => last[0],
  lastParen: (last) => (last.length > 1 ? (last.at(-1) ?? "") : ""),
  leftContext: (last) => last.input.slice(0, last.index),
  rightContext: (last) => last.input.slice(last.index + last[0].length),
};

/** Has RegExp note its matches from now on. */
export function noteMatches() {
  const { apply } = Reflect,
    { exec } = RegExp.prototype;
  let last = Object.assign([""], { input: "", index: 0 });
  const noting = {
    exec(string) {
      const match = apply(exec, this, [string]);
      // A copy, which the caller cannot change.
      if (match !== null) last = Object.assign([...match], { input: match.input, index: match.index });
      return match;
    },
  };
  Object.defineProperty(RegExp.prototype, "exec", {
    value: noting.exec,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  const tell = (name, value) =>
    Object.defineProperty(RegExp, name, { get: () => value(last), set() {}, enumerable: false, configurable: true });
  for (let n = 1; n <= 9; n++) tell(`$${n}`, () => last[n] ?? "");
  for (const [name, short] of Object.entries(names)) {
    tell(name, values[name]);
    tell(short, values[name]);
  }
}
