import type { WorkspaceGit } from "./workspace-git.ts";

/** The content of a commit of saved work. */
export interface SavedCommit {
  sessionId: string;
  tree: string;
  parents: readonly string[];
  /** Earlier saved work, which is also a parent. */
  earlier: string | null;
  /** Whether it has the files of the unpushed commits, but not the commits. */
  isFlat: boolean;
  excluded: readonly string[];
}

/** The work is the agent's, but the commit is created by svc. */
const IDENTITY = "svc <saved@svc.invalid>";
const EARLIER = "Svc-Earlier:";

/** Writes a commit of saved work. Its parents may be missing in the repository. */
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
    `Unpushed work of session ${sessionId}`,
    "",
    "Saved by svc from the sandbox's work tree. No branch was changed.",
    ...(isFlat
      ? [
          "",
          "An unpushed commit contains a secret: only the files of the commits are saved, without the secret.",
        ]
      : []),
    ...(excluded.length > 0 ? ["", "Left out:", ...excluded] : []),
    ...(earlier === null
      ? []
      : [
          "",
          "Earlier saved work that was not restored is another parent of this commit.",
          "",
          `${EARLIER} ${earlier}`,
        ]),
  ];
}

/**
 * Parses a commit of saved work, as `git cat-file commit` prints it.
 * @returns the commit that was checked out (null: none), and the earlier saved work
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
