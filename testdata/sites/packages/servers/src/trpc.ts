import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink, TRPCClientError } from "@trpc/client";
import { initTRPC, tracked, TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import superjson from "superjson";
import { z } from "zod";

const t = initTRPC.context<{ user: string | null }>().create({ transformer: superjson });
const users = [{ id: "1", name: "Katt", since: new Date(0) }];
const signedIn = t.procedure.use(({ ctx, next }) => {
  if (!ctx.user) throw new TRPCError({ code: "UNAUTHORIZED", message: "who are you?" });
  return next({ ctx: { user: ctx.user } });
});
const router = t.router({
  user: t.router({
    byId: t.procedure.input(z.string()).query(({ input }) => users.find((user) => user.id === input) ?? null),
    add: signedIn.input(z.object({ name: z.string().min(2) })).mutation(({ input, ctx }) => ({ name: input.name, by: ctx.user })),
  }),
  count: t.procedure.subscription(async function* () {
    for (let n = 1; n <= 3; n++) yield tracked(`${n}`, n);
  }),
});

/** https://trpc.io/docs/server/adapters/fetch, and https://trpc.io/docs/client/vanilla/setup as its client */
export async function trpc() {
  let calls = 0;
  const serve = (user: string | null) => async (input: RequestInfo | URL, init?: RequestInit) => {
    calls++;
    return fetchRequestHandler({ endpoint: "/trpc", req: new Request(input as string, init), router, createContext: () => ({ user }) });
  };
  const client = (user: string | null) => createTRPCClient<typeof router>({ links: [httpBatchLink({ url: "https://example.com/trpc", transformer: superjson, fetch: serve(user) as typeof fetch })] });
  const me = client("jane");
  const [found, missing] = await Promise.all([me.user.byId.query("1"), me.user.byId.query("2")]);
  const batched = calls, errors: string[] = [];
  for (const attempt of [() => client(null).user.add.mutate({ name: "Bob" }), () => me.user.add.mutate({ name: "B" })]) {
    await attempt().catch((error: TRPCClientError<typeof router>) => errors.push(`${error.data!.httpStatus} ${error.data!.code} ${error.message.includes("who") || error.message.includes("too_small")}`));
  }
  const live = await serve(null)("https://example.com/trpc/count");
  return {
    found, date: found!.since instanceof Date, missing, batched, added: await me.user.add.mutate({ name: "Bob" }), errors,
    type: live.headers.get("content-type"), live: (await live.text()).split("\n").filter((line) => line.startsWith("data: {\"json\":") || line.startsWith("id:")),
    direct: await t.createCallerFactory(router)({ user: "x" }).user.add({ name: "Direct" }),
  };
}
