interface Visitor {
  name?: { first: string };
}

function greet(visitor: Visitor): string {
  return `Hello, ${visitor.name!.first}`;
}

export default {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === "/fine") return new Response("fine");
    return new Response(greet({}));
  },
};
