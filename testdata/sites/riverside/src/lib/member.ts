import type { MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import type { AppContext, AppEnv, Member } from "../env";

/**
 * Puts the signed-in member into the context. The platform has refused all other
 * requests. A request without a member means that a route lost its "members"
 * access: it is refused.
 */
export const withMember: MiddlewareHandler<AppEnv> = async (c, next) => {
  const member = memberOf(c);
  if (!member) throw new HTTPException(401, { message: "this page is for members" });
  c.set("member", member);
  await next();
};

function memberOf(c: AppContext): Member | undefined {
  const { member } = c.executionCtx as ExecutionContext & { member?: Member };
  if (member) return member;
  const id = c.req.header("x-pages-member-id");
  if (!id) return undefined;
  const email = c.req.header("x-pages-member-email") ?? "";
  return { id, email, name: c.req.header("x-pages-member-name") ?? email };
}
