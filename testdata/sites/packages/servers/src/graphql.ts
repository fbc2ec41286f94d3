import { createSchema, createYoga } from "graphql-yoga";
import { buildSchema, graphql as execute, GraphQLError, parse, printSchema, validate } from "graphql";

const yoga = createYoga({
  logging: false,
  schema: createSchema({
    typeDefs: /* GraphQL */ `
      type Boat { id: ID! name: String! seats: [Int!]! }
      type Query { hello(who: String = "there"): String! boats(first: Int!): [Boat!]! secret: String }
      type Mutation { rename(id: ID!, name: String!): Boat! }
      type Subscription { countdown(from: Int!): Int! }
    `,
    resolvers: {
      Query: {
        hello: (_: unknown, { who }: { who: string }) => `Hello ${who} from Yoga!`,
        boats: async (_: unknown, { first }: { first: number }) => [{ id: 1, name: "heron" }, { id: 2, name: "wren" }].slice(0, first),
        secret: () => { throw new GraphQLError("not for you", { extensions: { code: "FORBIDDEN" } }); },
      },
      Boat: { seats: async (boat: { id: number }) => [boat.id, boat.id + 1] },
      Mutation: { rename: (_: unknown, { id, name }: { id: string; name: string }) => ({ id, name }) },
      Subscription: { countdown: { async *subscribe(_: unknown, { from }: { from: number }) { for (let n = from; n >= 0; n--) yield { countdown: n }; } } },
    },
  }),
});

const ask = (body: object, headers = {}) => yoga.fetch("https://example.com/graphql", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } });

/** https://the-guild.dev/graphql/yoga-server/docs/integrations/integration-with-cloudflare-workers, and https://www.graphql-js.org on its own */
export async function graphql(request: Request) {
  const schema = buildSchema("type Query { n(add: Int): Int }");
  return {
    hello: await (await ask({ query: "{ hello }" })).json(),
    boats: await (await ask({ query: "query Q($n: Int!) { boats(first: $n) { ...B } __typename } fragment B on Boat { name seats }", variables: { n: 2 } })).json(),
    secret: await (await ask({ query: "{ secret hello(who: \"you\") }" })).json(),
    wrong: (await (await ask({ query: "{ helo }" })).json()).errors[0].message,
    rename: await (await ask({ query: 'mutation { rename(id: 7, name: "grebe") { id name } }' })).json(),
    graphiql: (await (await yoga.fetch("https://example.com/graphql", { headers: { accept: "text/html" } })).text()).includes("graphiql"),
    alone: await execute({ schema, source: "{ n(add: 2) }", rootValue: { n: ({ add }: { add: number }) => 40 + add } }),
    printed: printSchema(schema), invalid: validate(schema, parse("{ n(add: \"x\") }")).map((error) => error.message),
  };
}

/** https://the-guild.dev/graphql/yoga-server/docs/features/subscriptions */
export async function graphqlStream() {
  const response = await ask({ query: "subscription { countdown(from: 2) }" }, { accept: "text/event-stream" });
  return { type: response.headers.get("content-type"), data: (await response.text()).split("\n").filter((line) => line.startsWith("data: {")) };
}
