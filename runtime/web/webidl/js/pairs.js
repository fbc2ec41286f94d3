// Names and their values in one flat array: name, value, name, value. The native methods of arrays search it, ten times as fast as a
// loop.

/** The index of a name in a list, from an even index on; -1 without it. */
export function find(list, name, from = 0) {
  let at = list.indexOf(name, from);
  while (at >= 0 && at % 2 !== 0) at = list.indexOf(name, at + 1); // a value like the name
  return at;
}

/** The values of a name in a list. */
export function valuesOf(list, name) {
  const out = [];
  for (let at = find(list, name); at >= 0; at = find(list, name, at + 2)) out.push(list[at + 1]);
  return out;
}

/** Sets a name in a list, in the place of the first one. */
export function put(list, name, value) {
  const at = find(list, name);
  if (at < 0) {
    list.push(name, value);
    return;
  }
  list[at + 1] = value;
  remove(list, name, undefined, at + 2);
}

/** Takes a name out of a list, with one value only unless that is undefined, from an even index on. */
export function remove(list, name, value = undefined, from = 0) {
  let to = find(list, name, from);
  if (to < 0) return;
  for (let i = to; i < list.length; i += 2) {
    if (list[i] === name && (value === undefined || list[i + 1] === value)) continue;
    list[to] = list[i];
    list[to + 1] = list[i + 1];
    to += 2;
  }
  list.length = to;
}
