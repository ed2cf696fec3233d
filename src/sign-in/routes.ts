import { type Context, Elysia } from "elysia";
import { browserSession, signedIn, signInBody } from "../contract/sign-in.ts";
import type { Deps } from "../deps.ts";
import { answer, ok } from "../http/schema.ts";
import { readSession } from "./session.ts";
import { signIn, signOut, type WithCookie } from "./sign-in.ts";

/** Routes by which browsers sign in and out; they are open, and each says itself whom it answers. */
export const signInRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/auth", tags: ["auth"] })
    .post("/sign-in", async ({ request, body, set }) => withCookie(set, await signIn(deps, request, body)), {
      body: signInBody,
      ...answer(200, signedIn),
    })
    .post(
      "/sign-out",
      async ({ request, set }) => withCookie(set, await signOut(deps, request)),
      answer(200, ok),
    )
    .get(
      "/session",
      async ({ request, set }) => withCookie(set, await readSession(deps, request)),
      answer(200, browserSession),
    );

/** Nothing on the way may keep what belongs to one browser. */
function withCookie<T>(set: Pick<Context["set"], "headers">, { answer, cookie }: WithCookie<T>): T {
  set.headers["cache-control"] = "no-store";
  if (cookie !== null) set.headers["set-cookie"] = cookie;
  return answer;
}
