// http://www.xmailserver.org/diff2.pdf The shortest way from one list to
// another, as util.diff of Node.js words it: pairs of the operation (0 is kept, 1
// is in the first alone, -1 in the second) and the value.

export function shortest(a, b) {
  const steps = furthest(a, b),
    out = [];
  for (let x = a.length, y = b.length, d = steps.length - 1; d >= 0; d--) {
    const k = x - y,
      from = k + (down(steps[d], d, k) ? 1 : -1);
    const startX = at(steps[d], from),
      startY = startX - from;
    while (x > startX && y > startY) {
      x--;
      y--;
      out.push([0, a[x]]);
    }
    if (d > 0) out.push(x > startX ? [1, a[--x]] : [-1, b[--y]]);
  }
  return out.reverse();
}

// For each number of differences, the position reached on each diagonal before it.
function furthest(a, b) {
  const steps = [];
  let reached = new Map();
  for (let d = 0; ; d++) {
    steps.push(reached);
    reached = new Map(reached);
    for (let k = -d; k <= d; k += 2) {
      let x = down(reached, d, k) ? at(reached, k + 1) : at(reached, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reached.set(k, x);
      if (x >= a.length && x - k >= b.length) return steps;
    }
  }
}

function down(reached, d, k) {
  return k === -d || (k !== d && at(reached, k - 1) < at(reached, k + 1));
}

function at(reached, k) {
  return reached.get(k) ?? 0;
}
