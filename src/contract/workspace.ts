import { type Static, Type } from "@sinclair/typebox";
import { diffFile } from "./change-request.ts";
import { nullable, oneOf } from "./schema.ts";

export const WORKSPACE_ENTRY_TYPES = ["file", "directory", "symlink", "other"] as const;

const path = Type.String({ description: "From the root; U+FFFD stands for bytes that are not UTF-8" });
const pathBase64 = Type.Optional(
  Type.String({ description: "The exact bytes of the path, when it is not UTF-8" }),
);
const more = Type.Integer({ description: "The number of those that are left out" });

/** A file or folder in the workspace of a session. */
export const workspaceEntry = Type.Object({
  name: Type.String(),
  path,
  path_base64: pathBase64,
  type: Type.Union([oneOf(WORKSPACE_ENTRY_TYPES)], {
    description: "`other`: a socket, a pipe or a device, which svc does not open",
  }),
  size: nullable(Type.Integer(), "Bytes; null for what is no file"),
});
export type WorkspaceEntry = Static<typeof workspaceEntry>;

/** Answer of `GET …/sessions/:sid/files`: folders first. */
export const workspaceFolder = Type.Object({
  path,
  path_base64: pathBase64,
  entries: Type.Array(workspaceEntry),
  more,
});
export type WorkspaceFolder = Static<typeof workspaceFolder>;

const commit = nullable(Type.String({ pattern: "^(?:[0-9a-f]{40}|[0-9a-f]{64})$" }));

/** Answer of `GET …/sessions/:sid/diff`: what the files of the workspace, committed or not, change. */
export const workspaceChanges = Type.Object({
  base: Type.Union([commit], {
    description: "The merge base of the branch and the default branch; null: they have none",
  }),
  head: Type.Union([commit], { description: "The commit that is checked out; null: none" }),
  version: Type.String({ description: "Changes with the content of the changed files" }),
  files: Type.Array(diffFile),
  more,
});
export type WorkspaceChanges = Static<typeof workspaceChanges>;
