import { type Static, Type } from "@sinclair/typebox";

/** A commit that the head of a change request has had. */
export const changeRequestHead = Type.Object({
  number: Type.Integer({ minimum: 1, description: "Counted from 1, the oldest" }),
  commit_sha: Type.String(),
  base_commit_sha: Type.String({ description: "The base at that time" }),
  seen_at: Type.String({ format: "date-time", description: "When svc read it from the repository" }),
  reviewed: Type.Boolean({
    description: "The caller's last approval, or comment on a file, is of this commit",
  }),
});
export type ChangeRequestHead = Static<typeof changeRequestHead>;
