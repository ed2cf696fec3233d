import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type GatewayBench, type Place, runClientWith, setRefs } from "./gateway.ts";
import { createRepository } from "./git-repo.ts";
import { Remote } from "./remote.ts";

/** Versions of git's protocol that a client may request. */
export const PROTOCOLS = [2, 1, 0] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Commits of main, one a second. */
export const HISTORY = { commits: 30, tagged: 9, firstSecond: 1_700_000_000 };

/** Ref → the commit or tag that it names before each operation of a client. */
export type Beginning = Record<string, string>;

type Git = (...args: string[]) => Promise<string>;

/** What one operation of a client works with. */
export interface Bed {
  place: Place;
  protocol: Protocol;
  /** The project's gateway, with a user's token. */
  url: string;
  /** Empty at first. */
  folder: string;
  /** Runs git in the folder; throws unless it ends with 0. What it printed, without the last line's end. */
  git: Git;
  /** Clones into a folder of that name, and runs git there. */
  clone(name: string, ...flags: string[]): Promise<Git>;
  /** What git says of its requests while it runs in a folder of that name. */
  trace(name: string, ...args: string[]): Promise<string>;
  /** What a revision names in the repository on the disk; null for nothing. */
  onDisk(revision: string): Promise<string | null>;
}

export function makeBed(bench: GatewayBench, place: Place, protocol: Protocol, folder: string): Bed {
  const url = bench.url(place, bench.api.token);
  const setting = ["-c", `protocol.version=${protocol}`];
  const run = async (environment: Record<string, string>, directory: string, args: string[]) => {
    const ran = await runClientWith(environment, directory, ...setting, ...args);
    if (ran.code !== 0) throw new Error(`git ${args.join(" ")}: ${ran.code} ${ran.err}`);
    return ran;
  };
  const at =
    (directory: string): Git =>
    async (...args) =>
      (await run({}, directory, args)).out.trimEnd();
  return {
    place,
    protocol,
    url,
    folder,
    git: at(folder),
    async clone(name, ...flags) {
      await run({}, folder, ["clone", "--quiet", ...flags, url, name]);
      return at(join(folder, name));
    },
    async trace(name, ...args) {
      const environment = { GIT_TRACE_CURL: "1", GIT_TRACE_CURL_NO_DATA: "1" };
      return (await run(environment, join(folder, name), args)).err;
    },
    async onDisk(revision) {
      const { code, out } = await runClientWith(
        {},
        place.directory,
        "rev-parse",
        "--verify",
        "--quiet",
        revision,
      );
      return code === 0 ? out.trimEnd() : null;
    },
  };
}

/** Creates the history that clients work with, in both repositories. */
export async function makeHistory(bench: GatewayBench, folder: string): Promise<Beginning> {
  const repository = await createRepository(folder);
  const big = crypto.getRandomValues(new Uint8Array(60_000));
  const files = (index: number) => ({ f: `${index}\n`, [`d${index % 5}/g`]: `${index}\n`, big });
  const main = Array.from({ length: HISTORY.commits }, (_, index) => ({
    name: `m${index}`,
    parents: index === 0 ? [] : [`m${index - 1}`],
    files: files(index),
  }));
  const written = await repository.write([
    ...main,
    { name: "feature", parents: ["m5"], files: { feature: "1\n" } },
    { name: "hidden", parents: ["m5"], files: { hidden: "1\n" } },
  ]);
  const id = (name: string) => written[name] ?? "";
  await repository.git("tag", "--annotate", "--message=v1", "v1", id(`m${HISTORY.tagged - 1}`));
  const beginning = {
    "refs/heads/main": id(`m${HISTORY.commits - 1}`),
    "refs/heads/feature": id("feature"),
    "refs/tags/v1": await repository.git("rev-parse", "v1"),
    "refs/tags/v0": id("m0"),
    "refs/cr/1/head": id("hidden"),
    "refs/svc/saved/x": id("hidden"),
  };
  for (const { directory } of [bench.hosted, bench.external]) {
    await repository.git("push", "--quiet", directory, "refs/svc-test/*:refs/begin/*", "v1");
    await setRefs(directory, beginning);
  }
  return beginning;
}

/** A project without a commit, whose default branch is `trunk`. */
export async function emptyProject(
  bench: GatewayBench,
  kind: "hosted" | "external",
): Promise<Place & AsyncDisposable> {
  const remote = kind === "external" ? new Remote({ defaultBranch: "trunk" }) : null;
  const folder = join(bench.api.dataDir, "repositories");
  const before = new Set(readdirSync(folder));
  const body = { name: "Empty", default_branch: "trunk", ...(remote && { repo_url: remote.url }) };
  const made = await bench.api.call("POST", "/v1/projects", { body });
  expect(made.status).toBe(201);
  const fresh = readdirSync(folder).find((name) => !before.has(name));
  return {
    project: made.body,
    directory: remote?.path ?? join(folder, fresh ?? ""),
    async [Symbol.asyncDispose]() {
      await bench.api.call("DELETE", `/v1/projects/${made.body.project_id}`);
      remote?.remove();
    },
  };
}
