// The Worker of the tests: each path is a case.
const encoder = new TextEncoder();
let held;
let count = 0;

function stream(pieces, end) {
  return new ReadableStream({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(encoder.encode(piece));
        await scheduler.wait(1);
      }
      end(controller);
    },
  });
}

const cases = {
  "/url": (request) => new Response(request.url),
  "/echo": async (request) =>
    Response.json({
      method: request.method,
      headers: Object.fromEntries([...request.headers].filter(([name]) => name.startsWith("x-"))),
      body: await request.text(),
    }),
  "/cf": (request) => Response.json({ ...request.cf, tlsClientRandom: undefined }),
  "/member": (request, env, ctx) => Response.json(ctx.member),
  "/nothing": () => new Response(null, { status: 204 }),
  "/fresh": () => new Response(null, { status: 304, headers: { etag: '"1"' } }),
  "/cookies": () => {
    const headers = new Headers({ "x-two": "a" });
    headers.append("x-two", "b");
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return new Response("cookies", { headers });
  },
  "/encoded": () => new Response("encoded".repeat(20), { headers: { "content-encoding": "gzip" } }),
  "/bytes": () => new Response(new Uint8Array([0, 255])),
  "/teapot": () => new Response("short and stout", { status: 418 }),
  "/own500": () => new Response(encoder.encode("Internal Server Error"), { status: 500 }),
  "/frozen500": () => {
    const r = Response.json({ a: 1 }, { status: 500 });
    return Object.freeze(r);
  },
  "/stream": () => new Response(stream(["one ", "two"], (c) => c.close())),
  "/break": () => new Response(stream(["first"], (c) => c.error(new Error("stream broke")))),
  "/throw": () => {
    throw new RangeError("out of it", { cause: new Error("deeper") });
  },
  "/reject": async () => {
    await scheduler.wait(1);
    throw new AggregateError([new Error("one"), new TypeError("two")], "several");
  },
  "/text": () => {
    throw "only a text";
  },
  "/number": () => 5,
  "/undefined": () => {},
  "/hang": () => new Promise(() => {}),
  "/used": async () => {
    const r = new Response("once");
    await r.text();
    return r;
  },
  "/large": () => new Response("x".repeat(3000)),
  "/largestream": () => new Response(stream(["x".repeat(1500), "y".repeat(1500)], (c) => c.close())),
  "/pass": (request, env, ctx) => {
    ctx.passThroughOnException();
    throw new Error("passed");
  },
  "/early": (request) => new Response(`early: ${request.headers.get("content-type")}`),
  "/left": async (request, env, ctx) => {
    ctx.waitUntil(scheduler.wait(100).then(() => console.log("kept")));
    console.log("began");
    await scheduler.wait(60_000);
    return new Response("late");
  },
  "/log": () => {
    console.log("text %d", 5, { a: [1, new Map([["k", 1]])] }, Promise.resolve(1));
    const error = new Error("logged");
    console.error(error);
    console.error(error, { behind: 1 });
    console.error({ error, behind: [error, Object.assign(new Error("other"), { code: "E" })] });
    console.error("%s (why) of", error, 5);
    console.warn("two\nlines");
    console.table([{ a: 1 }]);
    console.group("in");
    console.info("deeper");
    return new Response("logged");
  },
  "/rejection": async () => {
    Promise.reject(new TypeError("unheard"));
    await scheduler.wait(1);
    return new Response("ok");
  },
  "/timer": async () => {
    setTimeout(() => {
      throw new Error("in a timer");
    }, 1);
    await scheduler.wait(5);
    return new Response("ok");
  },
  "/wait": (request, env, ctx) => {
    ctx.waitUntil(
      scheduler.wait(Number(new URL(request.url).searchParams.get("ms") ?? 30)).then(() => {
        console.log("waited");
        throw new Error("late");
      }),
    );
    return new Response("answered");
  },
  "/many": (request) => {
    for (let i = 0; i < 1500; i++) console.log(`line ${i}`);
    return new Response("many");
  },
  "/loop": (request) => {
    console.log("begun: loop", new URL(request.url).search);
    for (;;);
  },
  "/busy": (request) => {
    const n = Number(new URL(request.url).searchParams.get("n"));
    let x = 0;
    for (let i = 0; i < n * 1e6; i++) x = (x * 31 + i) | 0;
    return new Response(`${x}`);
  },
  "/waitloop": (request, env, ctx) => {
    ctx.waitUntil(
      scheduler.wait(5).then(() => {
        for (;;);
      }),
    );
    return new Response("answered");
  },
  "/held": (request, env, ctx) => {
    const url = new URL(request.url);
    console.log("held");
    ctx.waitUntil(
      scheduler.wait(url.search === "" ? 5 : 500).then(async () => {
        if (url.search === "") for (;;);
        console.log((await fetch(url.searchParams.get("to"))).status, "after the answer");
      }),
    );
    return new Response("answered");
  },
  "/slow": async (request) => {
    const url = new URL(request.url);
    console.log("begun: slow", url.search);
    await scheduler.wait(Number(url.searchParams.get("ms")));
    return new Response("slow");
  },
  "/memory": () => {
    const all = [];
    for (;;) all.push(new Array(1e5).fill(Math.random()));
  },
  "/buffers": async () => {
    const all = [];
    for (;;) {
      all.push(new Uint8Array(1 << 24).fill(1));
      await scheduler.wait(1);
    }
  },
  "/hold": (request) => {
    held ??= new Uint8Array(Number(new URL(request.url).searchParams.get("mb")) << 20).fill(1);
    return new Response("held");
  },
  "/count": () => new Response(`${++count}`),
  "/exit": () => {
    process.exit(3);
  },
  "/kv": async (request, env) => {
    const key = new URL(request.url).searchParams.get("key");
    await env.KV.put(key, "1");
    return new Response("stored");
  },
  "/keys": async (request, env) => {
    const found = [];
    for (let cursor; ; ) {
      const page = await env.KV.list({ cursor });
      found.push(...page.keys.map(({ name }) => name));
      if (page.list_complete) return new Response(found.join("\n"));
      cursor = page.cursor;
    }
  },
  "/cache": async (request) => {
    await caches.default.put("http://a.example/", new Response("kept", { headers: { "cache-control": "max-age=60" } }));
    const found = await caches.default.match("http://a.example/");
    return new Response(`${found && (await found.text())}`);
  },
  "/socket": () => {
    const { 0: client, 1: server } = new WebSocketPair();
    server.accept();
    server.addEventListener("message", ({ data }) => {
      if (data === "loop") for (;;);
      if (data === "later") {
        setTimeout(() => {
          for (;;);
        }, 500);
      }
      if (data === "stray") {
        (async () => {
          for (;;) {
            for (let i = 0; i < 2e6; i++) count++;
            await scheduler.wait(0);
          }
        })();
      }
      if (data === "close") server.close(4001, "as asked");
      else server.send(`echo ${data}`);
    });
    server.addEventListener("close", ({ code }) => console.log(`closed ${code}`));
    return new Response(null, { status: 101, webSocket: client });
  },
  "/fetch": async (request) => {
    const url = new URL(request.url).searchParams.get("url");
    const found = [];
    for (let i = 0; i < Number(new URL(request.url).searchParams.get("times") ?? 1); i++) {
      try {
        found.push(await (await fetch(url)).text());
      } catch (error) {
        found.push(`${error}`);
      }
    }
    return new Response(found.join("\n"));
  },
};

export default {
  async fetch(request, env, ctx) {
    const found = cases[new URL(request.url).pathname];
    return found === undefined ? new Response("no such case", { status: 404 }) : found(request, env, ctx);
  },
};
