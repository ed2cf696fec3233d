import { type Static, Type } from "@sinclair/typebox";
import { diffFile } from "./change-request.ts";

const objectId = Type.String({ pattern: "^(?:[0-9a-f]{40}|[0-9a-f]{64})$" });

/** Answer of `GET …/sessions/:sid/saved`. `patch` applies to `base` with `git apply`, byte for byte, unless `truncated`. */
export const savedWork = Type.Object({
  commit: objectId,
  base: Type.Union([objectId, Type.Null()], {
    description: "The pushed commit of the session's branch that it is based on",
  }),
  saved_at: Type.String({ format: "date-time" }),
  message: Type.String({ description: "A description, including what was left out and why" }),
  files: Type.Array(diffFile),
  patch: Type.String(),
  patch_base64: Type.Optional(Type.String({ description: "The patch, when its bytes are not UTF-8" })),
  truncated: Type.Boolean(),
});
export type SavedWork = Static<typeof savedWork>;
