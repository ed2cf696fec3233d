import { type Static, Type } from "@sinclair/typebox";
import { changeRequest } from "./change-request.ts";

/** The branches on which merge queues test merged results begin with this. Only svc creates, moves and deletes them. */
export const QUEUE_BRANCHES = "svc-queue/";

/** The queue of a base branch, in its order. */
export const mergeQueue = Type.Object({
  base_ref: Type.String(),
  entries: Type.Array(changeRequest),
});
export type MergeQueue = Static<typeof mergeQueue>;
