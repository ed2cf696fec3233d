import { SvcError } from "../contract/errors.ts";
import { REF_MAX_BYTES } from "../contract/limits.ts";

/**
 * Validates a branch name given by a user: `refs/heads/x` becomes `x`. Rejects the names that
 * `git check-ref-format --branch` rejects, names that git could read as an option (a leading `-`), as `HEAD` or as an
 * object id, and names too long for a ref's file.
 * @throws SvcError `invalid_ref`
 */
export function checkBranchName(text: string): string {
  const name = text.startsWith(HEADS) ? text.slice(HEADS.length) : text;
  const fault = faultOf(name);
  if (fault) throw new SvcError("invalid_ref", `This is not a branch name: ${fault}.`);
  return name;
}

/** The fault of the full name of a ref, or null. It must be `refs/`, a kind, and a valid branch name. */
export function refFault(ref: string): string | null {
  const name = /^refs\/[a-z]+\/(.*)/s.exec(ref)?.[1];
  return name === undefined ? "it is no full name, such as refs/heads/main" : faultOf(name);
}

/** Whether one of two branches prevents the other: git stores them as files, so `a` and `a/b` cannot both exist. */
export function areInConflict(one: string, other: string): boolean {
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

const HEADS = "refs/heads/";
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

function faultOf(name: string): string | null {
  if (name === "") return "it is empty";
  if (!name.isWellFormed()) return "it is not valid Unicode";
  if (Buffer.byteLength(name) > REF_MAX_BYTES) return `it is longer than ${REF_MAX_BYTES} bytes`;
  if (name.startsWith("-")) return "it begins with “-”";
  if (name === "HEAD") return "“HEAD” is reserved";
  if (OBJECT_ID.test(name)) return "it looks like a commit id";
  if (/\p{Cc}/u.test(name)) return "it holds a control character";
  if (/[ ~^:?*[\\]/.test(name)) return "it holds a blank or one of ~ ^ : ? * [ \\";
  if (name.includes("..")) return "it holds “..”";
  if (name.includes("@{")) return "it holds “@{”";
  if (name.endsWith(".")) return "it ends with “.”";
  return faultOfComponents(name);
}

function faultOfComponents(name: string): string | null {
  for (const component of name.split("/")) {
    if (component === "") return "it has an empty part between slashes";
    if (component.startsWith(".")) return "a part of it begins with “.”";
    if (component.endsWith(".lock")) return "a part of it ends with “.lock”";
  }
  return null;
}
