import { type Static, Type } from "@sinclair/typebox";
import { seenHead } from "./change-request.ts";

/** Body of `POST …/approve`; the body is optional. */
export const approveBody = Type.Optional(Type.Object({ head_commit_sha: Type.Optional(seenHead) }));

/** Body of `POST …/request-changes`. */
export const requestChangesBody = Type.Object({
  body: Type.String({
    minLength: 1,
    pattern: "\\S",
    description: "What has to change, in Markdown; up to 16 KiB",
  }),
  head_commit_sha: Type.Optional(seenHead),
});
export type RequestChangesBody = Static<typeof requestChangesBody>;
