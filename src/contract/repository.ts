import { type Static, Type } from "@sinclair/typebox";
import { nullable, oneOf } from "./schema.ts";

const text = Type.String();
const time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });
const sha = Type.String({
  description: "40 or 64 hex digits, depending on the object format of the repository",
});
const path = Type.String({ description: "From the root; U+FFFD stands for bytes that are not UTF-8" });
const pathBase64 = Type.Optional(
  Type.String({ description: "The exact bytes of the path, when it is not UTF-8" }),
);
const mode = Type.String({ description: "Six octal digits, as in git" });
const ref = Type.String({ description: "The requested ref, or the default branch" });

/** A row of `GET …/branches`. */
export const branch = Type.Object({ name: text, commit_sha: sha, is_default: Type.Boolean() });
export type Branch = Static<typeof branch>;

const signature = Type.Object({
  name: text,
  email: text,
  date: Type.Union([time, Type.Null()], { description: "Null if the commit has no valid date" }),
});

/** Whether a commit is signed with a key of its committer, in GitHub's words. */
export const VERIFICATION_REASONS = [
  "valid",
  "unsigned",
  "unknown_signature_type",
  "malformed_signature",
  "unknown_key",
  "invalid",
  "bad_email",
  "unverified_email",
  "gpgverify_unavailable",
] as const;

const verification = Type.Object({
  verified: Type.Boolean({ description: "Whether `reason` is `valid`" }),
  reason: oneOf(VERIFICATION_REASONS),
  signer: nullable(
    Type.Object({
      user_id: Type.String({ format: "uuid" }),
      name: text,
      fingerprint: Type.String({ description: "Of the signing key: `SHA256:…`" }),
    }),
    "Whose key it is; null unless it is verified",
  ),
});
export type Verification = Static<typeof verification>;

/** A row of `GET …/commits`. */
export const commit = Type.Object({
  sha,
  parents: Type.Array(sha),
  author: signature,
  committer: signature,
  co_authors: Type.Array(Type.Object({ name: text, email: text }), {
    description: "Of the `Co-authored-by` trailers of the message",
  }),
  subject: Type.String({ description: "The message's first paragraph, on one line" }),
  body: text,
  truncated: Type.Boolean({ description: "Whether the message was cut" }),
  verification,
});
export type Commit = Static<typeof commit>;

/** A row of `GET …/files`. */
export const treeEntry = Type.Object({
  name: text,
  path,
  path_base64: pathBase64,
  type: Type.Union([
    Type.Literal("file"),
    Type.Literal("directory"),
    Type.Literal("symlink"),
    Type.Literal("submodule"),
  ]),
  mode,
  size: Type.Union([Type.Integer(), Type.Null()], { description: "Bytes; null for entries without a size" }),
  sha: Type.String({ description: "Id of the blob or tree; of a submodule, its commit" }),
});
export type TreeEntry = Static<typeof treeEntry>;

/** Answer of `GET …/files`. */
export const directory = Type.Object({
  ref,
  commit_sha: sha,
  path,
  path_base64: pathBase64,
  entries: Type.Array(treeEntry),
  next_cursor: Type.Optional(Type.String()),
});
export type Directory = Static<typeof directory>;

/** Answer of `GET …/contents`. */
export const fileContents = Type.Object({
  ref,
  commit_sha: sha,
  path,
  path_base64: pathBase64,
  type: Type.Union([Type.Literal("file"), Type.Literal("symlink")]),
  mode,
  size: Type.Integer({ description: "Bytes of the whole file" }),
  sha,
  encoding: Type.Union([Type.Literal("utf-8"), Type.Literal("base64")]),
  content: Type.String({ description: "The first MiB of the file, or the target of a symbolic link" }),
  truncated: Type.Boolean(),
});
export type FileContents = Static<typeof fileContents>;
