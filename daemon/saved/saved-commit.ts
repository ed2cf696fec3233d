import type { WorkspaceGit } from "./workspace-git.ts";

/** What a commit of saved work says. */
export interface SavedCommit {
  sessionId: string;
  tree: string;
  parents: readonly string[];
  /** Saved work of before, which is among the parents. */
  earlier: string | null;
  /** The commits that were not pushed are in it as their files only. */
  isFlat: boolean;
  excluded: readonly string[];
}

/** Nobody's: the work is the agent's, the commit svc's. */
const IDENTITY = "svc <saved@svc.invalid>";
const EARLIER = "Svc-Earlier:";

/** Writes a commit of saved work. The commits it names need not be there. */
export async function writeSavedCommit(
  {
    workspaceGit,
    environment,
  }: { workspaceGit: WorkspaceGit; environment: Readonly<Record<string, string>> },
  saved: SavedCommit,
): Promise<string> {
  const time = Math.floor(Date.now() / 1000);
  const lines = [
    `tree ${saved.tree}`,
    ...saved.parents.map((parent) => `parent ${parent}`),
    `author ${IDENTITY} ${time} +0000`,
    `committer ${IDENTITY} ${time} +0000`,
    "",
    ...messageOf(saved),
  ];
  const args = ["hash-object", "-t", "commit", "-w", "--stdin"];
  const stdin = Buffer.from(`${lines.join("\n")}\n`);
  const id = await workspaceGit.must("git could not write the saved commit", args, { stdin, environment });
  return id.toString("latin1").trim();
}

function messageOf({ sessionId, isFlat, excluded, earlier }: SavedCommit): string[] {
  return [
    `Work of session ${sessionId} that was not pushed`,
    "",
    "Saved by svc from the sandbox's work tree. No branch was touched.",
    ...(isFlat
      ? [
          "",
          "A commit that was not pushed holds a secret: of the commits only the files are here, without it.",
        ]
      : []),
    ...(excluded.length > 0 ? ["", "Left out:", ...excluded] : []),
    ...(earlier === null
      ? []
      : [
          "",
          "Work that was saved before, and not brought back, is another parent of this commit.",
          "",
          `${EARLIER} ${earlier}`,
        ]),
  ];
}

/**
 * Reads a commit of saved work, as `git cat-file commit` prints it.
 * @returns what was checked out (null: nothing), and the saved work of before
 */
export function readSavedCommit(text: string): { base: string | null; earlier: string | null } {
  const head = text.slice(0, text.indexOf("\n\n"));
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = ""]) => id);
  const named = text.trimEnd().split("\n").at(-1) ?? "";
  const earlier = named.startsWith(EARLIER) ? named.slice(EARLIER.length).trim() : null;
  const last = parents.at(-1);
  const isThere = earlier !== null && last === earlier;
  return { base: (isThere ? parents.slice(0, -1) : parents)[0] ?? null, earlier: isThere ? earlier : null };
}
