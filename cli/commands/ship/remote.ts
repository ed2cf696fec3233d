import { CliError } from "../../failure.ts";
import { gatewayUrl, remoteUrl } from "../../gateway.ts";
import { oneLine, shellWord } from "../../text.ts";
import type { Remote, WorkTree } from "./work-tree.ts";

/** The remote to push to. */
export interface Wanted {
  name: string;
  /** Null for the gateway of a project that is not there yet. */
  url: string | null;
  /** What has to be done to it first; `from` is its address before, null for a remote that is new. */
  change: { from: string | null } | null;
}

/**
 * The remote of a project that svc hosts: one that is there already, else `origin`, else `svc` where `origin` is
 * somebody else's. An address that ends as the project's does is the same project by another way (a tunnel, another
 * host name), and is brought up to date.
 * @throws CliError `git` when both names are taken.
 */
export function gatewayRemote(hostUrl: string, projectId: string | null, remotes: readonly Remote[]): Wanted {
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
    `The remotes origin and svc both lead elsewhere: svc is ${displayUrl(svc.url)}.`,
    {
      hint: "Give it another name with `git remote rename svc <name>`, then run `svc ship` again.",
    },
  );
}

/**
 * The remote of a project on another git host: the user's own `origin`, with the user's own credentials.
 * @throws CliError `git` when there is none.
 */
export function ownRemote(repoUrl: string, remotes: readonly Remote[]): Wanted {
  const origin = remotes.find(({ name }) => name === "origin");
  if (origin) return { name: "origin", url: origin.url, change: null };
  throw new CliError(
    "git",
    "There is no remote called origin, and svc does not host this project's repository.",
    {
      hint: `Add it with \`git remote add origin ${shellWord(oneLine(repoUrl))}\`, then run \`svc ship\` again.`,
    },
  );
}

/** Adds it, or changes its address. */
export async function setRemote({ git }: WorkTree, { name, url, change }: Wanted): Promise<void> {
  if (url === null || change === null) return;
  if (change.from === null) await git.tell("remote", "add", "--", name, url);
  else {
    const key = `remote.${name}.url`;
    await git.tell("config", "--local", "--fixed-value", "--replace-all", key, url, change.from);
  }
}

/** An address as it may be shown: on one line and without a password. */
export function displayUrl(url: string): string {
  return oneLine(url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1"));
}
