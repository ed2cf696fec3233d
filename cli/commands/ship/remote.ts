import { CliError } from "../../failure.ts";
import { gatewayUrl, remoteUrl } from "../../gateway.ts";
import { displayUrl, oneLine, shellWord } from "../../text.ts";
import type { Remote, WorkTree } from "./work-tree.ts";

/** The remote to push to. */
export interface PushRemote {
  name: string;
  /** Null for a project that does not exist yet. */
  url: string | null;
  /** A change that is needed first; `from` is the previous URL, null for a new remote. */
  change: { from: string | null } | null;
}

/**
 * The remote of a project that svc hosts: an existing one, else `origin`, else `svc` if `origin` is used for something else.
 * A URL with the same ending is the same project under another address (a tunnel, another host name), and is updated.
 * @throws CliError `git` if both names are taken.
 */
export function gatewayRemote(
  hostUrl: string,
  projectId: string | null,
  remotes: readonly Remote[],
): PushRemote {
  const url = projectId === null ? null : remoteUrl(hostUrl, projectId);
  const same = remotes.find((remote) => remote.url === url);
  if (same) return { name: same.name, url, change: null };
  const moved = remotes.find(
    (remote) => projectId !== null && remote.url.endsWith(`/v1/git/${projectId}.git`),
  );
  if (moved) return { name: moved.name, url, change: { from: moved.url } };
  if (!remotes.some(({ name }) => name === "origin")) return { name: "origin", url, change: { from: null } };
  const svc = remotes.find(({ name }) => name === "svc");
  if (!svc) return { name: "svc", url, change: { from: null } };
  if (svc.url.startsWith(`${gatewayUrl(hostUrl)}/`)) return { name: "svc", url, change: { from: svc.url } };
  throw new CliError(
    "git",
    `The remotes origin and svc both point elsewhere: svc is ${displayUrl(svc.url)}.`,
    {
      hint: "Rename it with `git remote rename svc <name>`, then run `svc ship` again.",
    },
  );
}

/**
 * The remote of a project on another git host: the user's own `origin`, with the user's own credentials.
 * @throws CliError `git` if it does not exist.
 */
export function ownRemote(repoUrl: string, remotes: readonly Remote[]): PushRemote {
  const origin = remotes.find(({ name }) => name === "origin");
  if (origin) return { name: "origin", url: origin.url, change: null };
  throw new CliError(
    "git",
    "The remote origin does not exist, and svc does not host this project's repository.",
    {
      hint: `Add it with \`git remote add origin ${shellWord(oneLine(repoUrl))}\`, then run \`svc ship\` again.`,
    },
  );
}

/** Adds it, or changes its address. */
export async function setRemote({ git }: WorkTree, { name, url, change }: PushRemote): Promise<void> {
  if (url === null || change === null) return;
  if (change.from === null) await git.output("remote", "add", "--", name, url);
  else {
    const key = `remote.${name}.url`;
    await git.output("config", "--local", "--fixed-value", "--replace-all", key, url, change.from);
  }
}
