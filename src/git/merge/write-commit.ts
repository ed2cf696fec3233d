import type { Authored } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";

/**
 * Writes a commit without `commit-tree`, which would change the message, so that the same request always gives the same
 * commit.
 * @throws SvcError `merge_engine_failed`
 */
export function writeCommit(
  engine: Engine,
  mirror: Mirror,
  request: Authored & { tree: string; parents: readonly string[] },
): Promise<string> {
  const person = personOf(request);
  if (request.message.includes("\0")) throw new TypeError("a commit message cannot hold NUL");
  const lines = [
    `tree ${request.tree}`,
    ...request.parents.map((parent) => `parent ${parent}`),
    `author ${person}`,
    `committer ${person}`,
    "",
    request.message,
  ];
  return writeObject(engine, mirror, "commit", lines.join("\n"));
}

/** Writes one object into the mirror. @returns its id */
export async function writeObject(
  engine: Engine,
  mirror: Mirror,
  type: "blob" | "tree" | "commit",
  content: string | Uint8Array,
): Promise<string> {
  const result = await engine.runner.run({
    args: ["hash-object", "-t", type, "-w", "--stdin"],
    environment: mirror.environment,
    stdin: content,
    deadlineMs: engine.limits.mergeMs,
    outputBytes: 1024,
  });
  if (result.code !== 0) throw engineFailure(engine, `writing a ${type}`, result);
  return new TextDecoder().decode(result.stdout).trim();
}

/** A person and a date as in the header of a commit. */
export function personOf({ identity, date }: Pick<Authored, "identity" | "date">): string {
  const seconds = Math.floor(date.getTime() / 1000);
  if (!Number.isSafeInteger(seconds) || seconds < 0)
    throw new TypeError("a commit's date must be in or after 1970");
  for (const text of [identity.name, identity.email]) {
    if (/[<>\n\0]/.test(text) || text.trim() !== text || text === "")
      throw new TypeError("a commit's author must be a plain name and address");
  }
  return `${identity.name} <${identity.email}> ${seconds} +0000`;
}
