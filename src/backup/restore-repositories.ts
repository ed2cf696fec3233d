import type { Git } from "../git/git.ts";
import { DamagedError, parseJson } from "./format.ts";
import { collect } from "./read-archive.ts";

type Description = Parameters<Git["backups"]["restore"]>[0];

const PART = /^((repositories|mirrors)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.git)\/([a-z.]+)$/;

/** Restores repositories from their three parts: the description, the refs, and the pack. */
export function repositoryParts(git: Git): {
  take(part: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** @returns how many were restored. @throws DamagedError when the last one is not complete */
  finish(): number;
} {
  const restored = new Set<string>();
  let open: { folder: string; description: Description; refs: Uint8Array | null } | null = null;

  return {
    async take(part, content) {
      const [, folder = "", kind, id = "", what] = PART.exec(part) ?? [];
      if (what === "repository.json" && open === null && !restored.has(folder)) {
        open = { folder, description: describe(kind, id, await collect(part, content)), refs: null };
      } else if (what === "refs" && open?.folder === folder && open.refs === null) {
        open.refs = await collect(part, content);
      } else if (what === "pack" && open?.folder === folder && open.refs !== null) {
        await git.backups.restore(open.description, open.refs, content);
        restored.add(folder);
        open = null;
      } else throw new DamagedError(`"${part}" is not where it belongs`);
    },
    finish() {
      if (open !== null) throw new DamagedError(`the repository ${open.description.id} is not complete`);
      return restored.size;
    },
  };
}

function describe(kind: string | undefined, id: string, bytes: Uint8Array): Description {
  const value = parseJson(bytes);
  const field = (name: string): unknown => Reflect.get(Object(value), name);
  const [format, head, origin] = [field("format"), field("head"), field("origin")];
  if (
    (format !== "sha1" && format !== "sha256") ||
    typeof head !== "string" ||
    (typeof origin !== "string" && origin !== null)
  ) {
    throw new DamagedError(`the description of the repository ${id} cannot be read`);
  }
  return { kind: kind === "mirrors" ? "mirrors" : "repositories", id, format, head, origin };
}
