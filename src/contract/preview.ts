import { type Static, Type } from "@sinclair/typebox";
import { DAEMON_PORT, RUNTIME_PORT } from "./daemon.ts";

/** The default port of a preview (spec 8). */
export const PREVIEW_PORT = 3000;
/** The lifetime of a link to a preview. */
export const PREVIEW_LINK_LIFE_S = 5 * 60;
/** How long a browser stays signed in to a preview. */
export const PREVIEW_COOKIE_LIFE_S = 12 * 60 * 60;
/** svc's own ports in a sandbox have no preview. */
export const NO_PREVIEW: readonly number[] = [DAEMON_PORT, RUNTIME_PORT];

/** Body of `POST /v1/projects/:id/sessions/:sid/preview`. */
export const previewBody = Type.Optional(
  Type.Object({ port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })) }),
);

/** Its answer: a URL that signs in the first browser to open it. */
export const preview = Type.Object({
  url: Type.String(),
  expires_at: Type.String({ format: "date-time" }),
});
export type Preview = Static<typeof preview>;
