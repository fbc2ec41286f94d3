// In production a DOMException has code, name, message and stack as properties of its own, so that
// JSON.stringify, a copy by {...error} and loggers of objects show them. The getters of its
// prototype stay, as in Web IDL.
const { apply, construct, defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;

const Native = DOMException,
  { prototype } = Native;
const getter = (name) => getOwnPropertyDescriptor(prototype, name).get;
const code = getter("code"),
  name = getter("name"),
  message = getter("message");

/** @returns {any} */
const of = (value) => ({ __proto__: null, value, writable: false, enumerable: true, configurable: true });

function own(exception, key, get) {
  const value = apply(get, exception, []);
  defineProperty(exception, key, of(value));
}

const { DOMException: Own } = {
  DOMException: function () {
    if (new.target === undefined) return apply(/** @type {any} */ (Native), undefined, []); // which throws
    const made = construct(Native, arguments, new.target),
      stack = getOwnPropertyDescriptor(made, "stack");
    if (stack !== undefined) deleteProperty(made, "stack"); // comes last
    own(made, "code", code);
    own(made, "name", name);
    own(made, "message", message);
    if (stack !== undefined) {
      stack.enumerable = true;
      defineProperty(made, "stack", stack);
    }
    return made;
  },
};

for (const key of ownKeys(Native)) {
  if (key !== "length" && key !== "name") defineProperty(Own, key, getOwnPropertyDescriptor(Native, key));
}
defineProperty(Own, "prototype", { value: prototype, writable: false, enumerable: false, configurable: false });
defineProperty(prototype, "constructor", { value: Own, writable: true, enumerable: false, configurable: true });
defineProperty(globalThis, "DOMException", { value: Own, writable: true, enumerable: false, configurable: true });
