import { Type } from "@sinclair/typebox";
import { type Context, Elysia } from "elysia";
import {
  browserSession,
  link,
  linkBody,
  linkQuery,
  passwordBody,
  signedIn,
  signInBody,
  signUpBody,
} from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { answer, ok } from "../../http/schema.ts";
import { guard } from "../auth/guard.ts";
import { changePassword } from "./change-password.ts";
import { followLink, readLink } from "./follow-link.ts";
import { handleGithubCallback, type Redirect, redirectToGithub } from "./github.ts";
import { readSession } from "./session.ts";
import { signIn, signOut, type WithCookie } from "./sign-in.ts";
import { signUp } from "./sign-up.ts";

/** Routes for signing in and out. Each checks its caller itself. */
export const signInRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/auth", tags: ["auth"] })
    .use(guard(deps))
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
    )
    .post(
      "/sign-up",
      async ({ request, body, set }) => {
        const signed = await signUp(deps, request, body);
        set.status = 201;
        return withCookie(set, signed);
      },
      { body: signUpBody, ...answer(201, signedIn) },
    )
    .get(
      "/link",
      async ({ query, set }) => withCookie(set, { answer: await readLink(deps, query.token), cookie: null }),
      { query: linkQuery, ...answer(200, link) },
    )
    .post("/link", async ({ request, body, set }) => withCookie(set, await followLink(deps, request, body)), {
      body: linkBody,
      ...answer(200, signedIn),
    })
    .get("/github", ({ query, set }) => send(set, redirectToGithub(deps, query)), {
      query: Type.Object({
        next: Type.Optional(Type.String()),
        invitation: Type.Optional(Type.String({ maxLength: 128 })),
      }),
      detail: {
        description: "Sends the browser to GitHub.",
        responses: { 303: { description: "See Other" } },
      },
    })
    .get(
      "/github/callback",
      async ({ request, query, set }) => send(set, await handleGithubCallback(deps, request, query)),
      {
        query: Type.Object(
          {
            code: Type.Optional(Type.String({ maxLength: 256 })),
            state: Type.Optional(Type.String({ maxLength: 256 })),
            error: Type.Optional(Type.String()),
          },
          { additionalProperties: true },
        ),
        detail: { description: "Signs it in.", responses: { 303: { description: "See Other" } } },
      },
    )
    .post(
      "/password",
      async ({ request, caller, body, set }) =>
        withCookie(set, await changePassword(deps, request, caller, body)),
      { user: true, body: passwordBody, ...answer(200, signedIn) },
    );

function send(set: Pick<Context["set"], "headers" | "status">, { location, cookies }: Redirect): string {
  set.status = 303;
  Object.assign(set.headers, { location, "cache-control": "no-store", "set-cookie": cookies });
  return "";
}

/** Responses for one browser must not be cached. */
function withCookie<T>(set: Pick<Context["set"], "headers">, { answer, cookie }: WithCookie<T>): T {
  set.headers["cache-control"] = "no-store";
  if (cookie !== null) set.headers["set-cookie"] = cookie;
  return answer;
}
