// A Worker that makes programs of calls on D1, KV and R2 from seeds, runs them, and answers with what each call gave.
//
// A program is { tasks, tail, determined }. Tasks run side by side, each with a table and keys of its own, the tail in waitUntil
// after the answer. A task is a list of steps [wait, call, ...arguments]: a step without wait is not awaited before the next one.
// In a determined program no two calls on one key of KV or R2 are under way at once if one of them writes, so that its results do
// not depend on whether a platform keeps such calls in order. Calls on D1 race in all of them.

const generator = (seed) => {
  let a = seed * 0x9e3779b1;
  const next = () => { // mulberry32
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { below, pick: (...of) => of[below(of.length)], chance: (p) => next() < p };
};

// The calls: what each does, and the keys of which stores it reads and writes.
const text = (o) => (o === null ? null : o.body ? o.text() : "no body");
const told = (o) => o && { key: o.key, size: o.size, etag: o.etag, meta: o.customMetadata, range: o.range };
const stream = (value) => new Response(value).body;
const calls = {
  run: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).run().then((r) => [r.results, r.meta.changes]),
  all: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).all().then((r) => r.results),
  raw: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).raw({ columnNames: true }),
  first: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).first(),
  column: (env, sql, name) => env.DB.prepare(sql).first(name),
  session: (env, from, sql) => env.DB.withSession(from).prepare(sql).run().then((r) => r.results),
  batch: (env, ...all) => env.DB.batch(all.map((sql) => env.DB.prepare(sql))).then((r) => r.map((one) => one.results)),
  grouped: (env, ...all) => {
    const session = env.DB.withSession();
    return session.batch(all.map((sql) => session.prepare(sql))).then((r) => r.map((one) => one.results));
  },
  // The result alone names the line that failed.
  exec: (env, sql) => env.DB.exec(sql).then((r) => r.count, (e) => `${e.name}: ${e.message.replace(/line.*?: (?=FOREIGN)/s, "")}`),
  twice: (env, sql, one, other) => {
    const statement = env.DB.prepare(sql);
    return Promise.all([statement.bind(...one).run(), statement.bind(...other).run()]).then((all) => all.map((r) => r.results));
  },

  get: (env, key) => env.KV.get(key),
  getJSON: (env, key) => env.KV.get(key, { type: "json", cacheTtl: 60 }),
  getBytes: (env, key) => env.KV.get(key, "arrayBuffer").then((b) => b && b.byteLength),
  getStream: (env, key) => env.KV.get(key, "stream").then((b) => b && new Response(b).text()),
  getMeta: (env, key) => env.KV.getWithMetadata(key).then((r) => [r.value, r.metadata]),
  gets: (env, ...keys) => env.KV.get(keys).then((m) => [...m]),
  put: (env, key, value) => env.KV.put(key, value),
  putBytes: (env, key, value) => env.KV.put(key, new TextEncoder().encode(value)),
  putStream: (env, key, value) => env.KV.put(key, stream(value)),
  putMeta: (env, key, value) => env.KV.put(key, value, { metadata: { value }, expirationTtl: 3600 }),
  del: (env, key) => env.KV.delete(key),
  list: (env, prefix, limit) => env.KV.list({ prefix, limit }).then((r) => [r.keys.map((k) => [k.name, k.metadata]), r.list_complete]),

  head: (env, key) => env.BUCKET.head(key).then(told),
  load: (env, key) => env.BUCKET.get(key).then(text),
  // The result of a range beyond the end does not depend on the order.
  part: (env, key, offset, length) => env.BUCKET.get(key, { range: { offset, length } }).then(text)
    .then((t) => t === "" ? "no such range" : t, () => "no such range"),
  loadIf: (env, key, sum) => env.BUCKET.get(key, { onlyIf: { etagMatches: sum } }).then(text),
  store: (env, key, value) => env.BUCKET.put(key, value).then(told),
  storeBytes: (env, key, value) => env.BUCKET.put(key, new TextEncoder().encode(value), { customMetadata: { value } }).then(told),
  storeStream: (env, key, value) => env.BUCKET.put(key, stream(value)).then(told),
  storeSlow: async (env, key, value) => {
    const { readable, writable } = new FixedLengthStream(value.length);
    const p = env.BUCKET.put(key, readable);
    const w = writable.getWriter();
    for (const c of value) { await w.write(new TextEncoder().encode(c)); await env.KV.get("nothing"); }
    await w.close();
    return told(await p);
  },
  storeIf: (env, key, value, sum) => env.BUCKET.put(key, value, { onlyIf: { etagMatches: sum } }).then(told),
  storeNew: (env, key, value) =>
    env.BUCKET.put(key, value, { onlyIf: new Headers({ "if-none-match": "*" }) }).then(told),
  storeSummed: (env, key, value, sum) => env.BUCKET.put(key, value, { md5: sum }).then(told),
  drop: (env, ...keys) => env.BUCKET.delete(keys),
  listed: (env, prefix, limit) => env.BUCKET.list({ prefix, limit, include: ["customMetadata"] })
    .then((r) => [r.objects.map(told), r.truncated]),
  folders: (env, prefix) => env.BUCKET.list({ prefix, delimiter: "/" })
    .then((r) => [r.objects.map((o) => o.key), r.delimitedPrefixes]),
  multipart: async (env, key, first, second, end) => {
    const made = await env.BUCKET.createMultipartUpload(key, { customMetadata: { first } });
    const upload = env.BUCKET.resumeMultipartUpload(key, made.uploadId);
    const parts = await Promise.all([upload.uploadPart(1, first), upload.uploadPart(2, stream(second))]);
    if (end === "abort") return await upload.abort() ?? "aborted";
    return told(await upload.complete(end === "both" ? parts : [parts[end === "first" ? 0 : 1]]));
  },
  swap: async (env, key, value) => {
    const was = await env.BUCKET.head(key);
    return told(await env.BUCKET.put(key, value, was ? { onlyIf: { etagMatches: was.etag } } : {}));
  },
  copy: async (env, from, to) => {
    const o = await env.BUCKET.get(from);
    return o && told(await env.BUCKET.put(to, o.body));
  },
  contend: async (env, key, n) => { // who makes an object first; who raises a number, by its etag, by its row
    const at = (one) => Promise.all(Array.from({ length: n }, (_, i) => one(i)));
    const first = await at(() => calls.storeNew(env, key, "0"));
    await at(async () => {
      for (;;) {
        const was = await env.BUCKET.get(key), next = Number(await was.text()) + 1;
        if (await env.BUCKET.put(key, String(next), { onlyIf: { etagMatches: was.etag } })) return;
      }
    });
    await env.DB.prepare("INSERT OR REPLACE INTO t0 VALUES (1, 0)").run();
    const rows = await at((i) => i % 2 ? env.DB.prepare("UPDATE t0 SET n = n + 1 RETURNING n").first("n")
      : env.DB.batch([env.DB.prepare("UPDATE t0 SET n = n + 10"), env.DB.prepare("SELECT n FROM t0")]).then((r) => r[1].results[0].n));
    return [first.filter(Boolean).length, await calls.load(env, key), rows];
  },
  late: async (env, key, value) => { // the body of the old object, read after it was replaced
    const was = await env.BUCKET.get(key);
    await env.BUCKET.put(key, value);
    return text(was);
  },
};

// step is a call of a task k by chance, with the keys that it reads and writes: "kv:a" one of KV, "r2:" all of R2.
const step = ({ below, pick, chance }, k) => {
  const id = below(4), n = below(100), v = String(n), key = pick("a", "b/1", "b/2").replace(/^/, k + "/"), other = k + "/" + pick("a", "c");
  const t = "t" + k, child = "child" + k;
  const sums = { sum: pick(v, v, String(below(100))) };
  const kv = (name, writes, ...args) => ({ call: [name, key, ...args], on: ["kv:" + key], writes });
  const r2 = (name, writes, ...args) => ({ call: [name, key, ...args], on: ["r2:" + key], writes });
  const d1 = (...call) => ({ call, on: [], writes: false });
  switch (below(46)) {
    case 0: case 1: return d1("run", `INSERT OR REPLACE INTO ${t} VALUES (${id}, ${n})`);
    case 2: return d1("run", `UPDATE ${t} SET n = n * 2 + ? WHERE id >= ?`, n, id);
    case 3: return d1("run", `DELETE FROM ${t} WHERE id = ?`, id);
    case 4: return d1("run", `INSERT INTO ${t} (n) VALUES (?) RETURNING id, n`, n);
    case 5: return d1("run", `INSERT INTO ${child} (t) VALUES (${id})`);
    case 6: return d1("run", `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${chance(0.2) ? 50000 : 500}) ` +
      `UPDATE ${t} SET n = (n + (SELECT sum(x) FROM c)) % 1000`);
    case 7: return d1("batch", `INSERT INTO ${t} (n) VALUES (${n})`, `SELECT max(id) AS id FROM ${t}`);
    case 8: return d1("batch", `UPDATE ${t} SET n = n + 1`,
      `INSERT INTO ${child} (t) VALUES (${id})`, `SELECT * FROM ${child} ORDER BY id`);
    case 9: return d1("grouped", `DELETE FROM ${child}`, `DELETE FROM ${t} WHERE id > ${id}`, `SELECT count(*) AS n FROM ${t}`);
    case 10: return d1("exec", `UPDATE ${t} SET n = ${n}\nINSERT INTO ${child} (t) SELECT id FROM ${t} LIMIT 1`);
    case 11: return d1("exec", `UPDATE ${t} SET n = n + 1\nINSERT INTO ${child} (t) VALUES (${id})\nUPDATE ${t} SET n = n + 10`);
    case 12: return d1("all", `SELECT * FROM ${t} ORDER BY id`);
    case 13: return d1("raw", `SELECT sum(n) AS sum, count(*) AS count FROM ${t}`);
    case 14: return d1("first", `SELECT count(*) AS n FROM ${child} WHERE t = ?`, id);
    case 15: return d1("column", `SELECT max(n) AS top FROM ${t}`, pick("top", "top", "nowhere"));
    case 16: return d1("session", pick("first-primary", "first-unconstrained"),
      `WITH x AS (SELECT n FROM ${t}) SELECT total(n) AS n FROM x`);
    case 17: return d1("session", "first-primary", `INSERT INTO ${t} (n) VALUES (${n}) RETURNING id`);
    case 18: return d1("twice", `INSERT INTO ${t} VALUES (?, ?) RETURNING n`, [id, n], [id + 1, n + 1]);
    case 19: return d1("first", `SELECT n FROM ${t} WHERE id = ${id}`);
    case 20: return d1("run", pick(`CREATE TABLE x${k} (a)`, `DROP TABLE x${k}`,
      `INSERT INTO x${k} VALUES (1) RETURNING a`, `SELECT b FROM ${t}`));
    case 21: return kv("put", true, v);
    case 22: return kv(pick("putBytes", "putStream"), true, v.repeat(pick(1, 1, 3000)));
    case 23: return kv("putMeta", true, v);
    case 24: return kv("del", true);
    case 25: case 26: return kv(pick("get", "getJSON", "getBytes", "getStream", "getMeta"), false);
    case 27: return { call: ["gets", key, other], on: ["kv:" + key, "kv:" + other], writes: false };
    case 28: return { call: ["list", k + "/", pick(1, 2, 1000)], on: ["kv:"], writes: false };
    case 29: case 30: return r2(pick("store", "storeBytes", "storeStream"), true, v.repeat(pick(1, 1, 20, 3000)));
    case 31: return r2("storeSlow", true, v);
    case 32: return r2("storeIf", true, v, sums);
    case 33: return r2("storeNew", true, v);
    case 34: return r2("storeSummed", true, v, sums);
    case 35: return { call: ["drop", key, other], on: ["r2:" + key, "r2:" + other], writes: true };
    case 36: case 37: return r2(pick("head", "load"), false);
    case 38: return r2("part", false, pick(0, 0, 1, 30), pick(1, 2, 10));
    case 39: return r2("loadIf", false, sums);
    case 40: return { call: ["listed", k + "/", pick(1, 2, 1000)], on: ["r2:"], writes: false };
    case 41: return { call: ["folders", k + "/"], on: ["r2:"], writes: false };
    case 42: return r2("multipart", true, v, String(id), pick("first", "first", "second", "both", "abort"));
    case 43: return r2("swap", true, v);
    case 44: return { call: ["copy", key, other], on: ["r2:" + key, "r2:" + other], writes: true };
    default: return r2("late", true, v);
  }
};

// Calls that take effect later than they are issued, after further calls or a stream's end. Without await they race with other calls, and
// the order of the program does not hold.
const several = new Set(["storeSlow", "multipart", "swap", "copy", "late", "putStream", "storeStream"]);

const clash = (a, b) => (a.writes || b.writes) &&
  a.on.some((x) => b.on.some((y) => x === y || (x.length === 3 || y.length === 3) && x.slice(0, 3) === y.slice(0, 3)));

const taskOf = (random, k, length, determined, tail) => {
  const steps = [];
  let open = [];
  for (let i = 0; i < length; i++) {
    const one = step(random, k);
    if (tail && !determined && several.has(one.call[0])) continue; // or it may still go on when the state is looked at
    if (determined && open.some((o) => clash(o, one))) {
      steps.push([true, "settle"]);
      open = [];
    }
    const wait = !tail && random.chance(0.2) || !determined && several.has(one.call[0]);
    steps.push([wait, ...one.call]);
    if (!wait) open.push(one);
  }
  return steps;
};

const programOf = (seed) => {
  const random = generator(seed);
  if (random.chance(0.03)) return { determined: true, tasks: [[[true, "contend", "0/a", 2 + random.below(6)]]], tail: null };
  const determined = random.chance(0.75);
  const tasks = [];
  for (let k = 0; k < (determined ? random.pick(1, 1, 2, 3) : 1); k++) {
    tasks.push(taskOf(random, k, 3 + random.below(tasks.length ? 8 : 18), determined, false));
  }
  const tail = random.chance(0.2) ? taskOf(random, 0, 1 + random.below(6), determined, true) : null;
  return { determined, tasks, tail };
};

const hex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, "0")).join("");
const prepared = async (steps) => Promise.all(steps.map(async (one) => Promise.all(one.map(async (arg) =>
  arg && arg.sum !== undefined ? hex(await crypto.subtle.digest("MD5", new TextEncoder().encode(arg.sum))) : arg))));

const reset = async (env, program) => {
  const sql = ["CREATE TABLE IF NOT EXISTS marker (run INTEGER)", "DELETE FROM marker"], keys = [];
  for (const k of program.tasks.keys()) {
    sql.push(`DROP TABLE IF EXISTS x${k}`, `CREATE TABLE IF NOT EXISTS t${k} (id INTEGER PRIMARY KEY, n INTEGER)`,
      `CREATE TABLE IF NOT EXISTS child${k} (id INTEGER PRIMARY KEY, t INTEGER NOT NULL REFERENCES t${k}(id))`,
      `DELETE FROM child${k}`, `DELETE FROM t${k}`);
    keys.push(`${k}/a`, `${k}/b/1`, `${k}/b/2`, `${k}/c`);
  }
  await Promise.all([env.DB.batch(sql.map((one) => env.DB.prepare(one))), env.BUCKET.delete(keys),
    ...keys.map((key) => env.KV.delete(key))]);
};

const result = (p) => p.then((v) => v ?? null, (e) => `${e.name}: ${e.message}`);

const runTask = async (env, steps, awaited) => {
  const results = [];
  for (const [wait, name, ...args] of steps) {
    if (name === "settle") { await Promise.all(results); continue; }
    const p = result(calls[name](env, ...args));
    results.push(p);
    if (wait || awaited) await p;
  }
  return Promise.all(results);
};

const runProgram = async (env, ctx, program, run, awaited) => {
  const tasks = await Promise.all(program.tasks.map(prepared)), tail = program.tail && await prepared(program.tail);
  await reset(env, program);
  const results = [];
  if (awaited) for (const steps of tasks) results.push(await runTask(env, steps, true));
  else results.push(...await Promise.all(tasks.map((steps) => runTask(env, steps, false))));
  if (tail) {
    const mark = () => env.DB.prepare("INSERT INTO marker VALUES (?)").bind(run).run();
    if (awaited) await runTask(env, tail, true).then(mark);
    else ctx.waitUntil(runTask(env, tail, false).then(mark));
  }
  return results;
};

const done = async (env, program, run) => {
  while (program.tail && await env.DB.prepare("SELECT run FROM marker WHERE run = ?").bind(run).first() === null);
};

// After the answer: the whole state, once the tail is done where the program is determined.
const state = async (env, program, run) => {
  if (program.determined) await done(env, program, run);
  const got = [];
  for (const k of program.tasks.keys()) {
    const objects = (await env.BUCKET.list({ prefix: k + "/" })).objects, keys = (await env.KV.list({ prefix: k + "/" })).keys;
    got.push([
      await env.DB.prepare(`SELECT * FROM t${k} ORDER BY id`).raw(), await env.DB.prepare(`SELECT * FROM child${k} ORDER BY id`).raw(),
      await Promise.all(keys.map(async (key) => [key.name, await env.KV.get(key.name)])),
      await Promise.all(objects.map(async (o) => [o.key, await env.BUCKET.get(o.key).then(text)])),
    ]);
  }
  return got;
};

const shorter = (key, value) => typeof value === "string" && value.length > 300 ? `${value.slice(0, 20)}… of ${value.length}` : value;

export default { async fetch(request, env, ctx) {
  const q = new URL(request.url).searchParams, seed = Number(q.get("seed")), run = Number(q.get("run"));
  const program = programOf(seed);
  switch (q.get("what")) {
    case "program": return new Response(JSON.stringify(program));
    case "done": return new Response(await done(env, program, run));
    case "state": return new Response(JSON.stringify(await state(env, program, run)));
    default: {
      const results = await runProgram(env, ctx, program, run, q.get("what") === "awaited");
      return new Response(JSON.stringify(results, shorter));
    }
  }
} };
