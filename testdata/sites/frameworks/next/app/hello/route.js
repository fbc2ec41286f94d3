export const dynamic = "force-dynamic";

export function GET(request) {
  return Response.json({ hello: new URL(request.url).searchParams.get("name") ?? "world" });
}
