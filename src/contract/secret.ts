import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { SECRET_NAME } from "./environment.ts";
import { SECRET_MAX_BYTES } from "./limits.ts";

const time = Type.String({ format: "date-time" });
const name = Type.String({
  pattern: SECRET_NAME.source,
  description: "An environment variable in a sandbox",
});

/** Secrets of one project, and those that one person holds. */
export const SECRETS_MAX = 200;

/** Projects that get one secret of a person: each was allowed by hand. */
export const SECRET_PROJECTS_MAX = 50;

/** Entries of one audience. */
const AUDIENCE_MAX = 50;

const audience = Type.Array(Type.String({ maxLength: 200 }), {
  minItems: 1,
  maxItems: AUDIENCE_MAX,
  description: "Where it is injected: sessions, builds, apps, apps:<slug>, previews, triggers:<slug>, checks",
});

/** A secret without its value, which the server sends only to sandboxes. */
export const secret = Type.Object({
  name,
  for: audience,
  set_by: Type.Union([author, Type.Null()]),
  created_at: time,
  updated_at: time,
});
export type Secret = Static<typeof secret>;

/** Answer of `GET /v1/projects/:id/secrets`; the last three come from `[env]` of the manifest. */
export const secretList = Type.Object({
  items: Type.Array(secret),
  required: Type.Array(Type.String()),
  optional: Type.Array(Type.String()),
  missing: Type.Array(Type.String({ description: "Required but not set" })),
});
export type SecretList = Static<typeof secretList>;

const value = Type.String({ description: `At most ${SECRET_MAX_BYTES} bytes of UTF-8, without NUL` });

/** Body of `PUT /v1/projects/:id/secrets/:name`. */
export const secretValueBody = Type.Object({ value, for: Type.Optional(audience) });
export type SecretValueBody = Static<typeof secretValueBody>;

/** Body of `POST /v1/projects/:id/secrets`. */
export const setSecretBody = Type.Object({ name: Type.String(), value, for: Type.Optional(audience) });

/** A secret that a person holds, without its value, and the projects whose sessions of that person get it. */
export const ownSecret = Type.Object({
  name,
  projects: Type.Array(
    Type.Object({ project_id: Type.String({ format: "uuid" }), name: Type.String(), slug: Type.String() }),
    { description: "The projects in which the sessions that you start get it" },
  ),
  created_at: time,
  updated_at: time,
});
export type OwnSecret = Static<typeof ownSecret>;

/** Answer of `GET /v1/accounts/secrets`. */
export const ownSecretList = Type.Object({ items: Type.Array(ownSecret) });
export type OwnSecretList = Static<typeof ownSecretList>;

/** Body of `PUT /v1/accounts/secrets/:name`. */
export const ownSecretBody = Type.Object({ value });
