import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Freeze } from "../../lib/freeze.ts";
import { createGate, type Gate } from "../../lib/gate.ts";
import { removeAllHalfPacks } from "../mirror/clean-up.ts";
import { baseEnvironment, withSettings } from "./environment.ts";
import { GIT_LIMITS, type GitLimits } from "./limits.ts";
import type { GitHost, GitOptions, Log, RemoteContext } from "./options.ts";
import { endOrphans } from "./orphans.ts";
import { Runner } from "./run.ts";
import { type GitVersion, readVersion } from "./version.ts";

/** The context that all operations of this folder share. */
export interface Engine {
  version: GitVersion;
  runner: Runner;
  limits: GitLimits;
  log: Log;
  remote: RemoteContext;
  /** The operator's git hosts. */
  hosts: readonly GitHost[];
  directories: {
    /** Copies of repositories on git hosts. */
    mirrors: string;
    /** Repositories that svc itself hosts. */
    repositories: string;
    /** For incomplete repositories; emptied at start. On the same disk as the others, so that a rename moves them there. */
    temporary: string;
    home: string;
  };
  /** Merges and questions about them. */
  merges: Gate;
  /** Diffs have their own slots, so that a slow reader does not block merges. */
  diffs: Gate;
  /** Histories: finding the few commits that changed one path can take a whole deadline. */
  histories: Gate;
  /** Large files, whose readers may be slow too. */
  downloads: Gate;
  /** Directories, small files and names: each takes milliseconds. */
  lookups: Gate;
  /** Checks that commits are complete; they also run within merges, so they have their own slots. */
  checks: Gate;
  /** Fetches and pushes: they mostly wait for a host. */
  network: Gate;
  listings: Gate;
  /** Fetches and pushes of git clients, which last as long as their connections. */
  reads: Gate;
  pushes: Gate;
  /** Repacking: one at a time, since it uses the whole machine. */
  upkeep: Gate;
  /** Every change of refs by svc, so that a backup can hold them all for a moment. Fetches only change a cache. */
  refs: Freeze;
  /** Called for each listing that runs; callers may share one. */
  listed: () => void;
  checkpoint: NonNullable<GitOptions["checkpoint"]>;
}

/**
 * Prepares the data directory: removes incomplete files of an earlier process.
 * @throws Error one line for the operator, when git is missing or too old
 */
export async function createEngine(options: GitOptions): Promise<Engine> {
  const limits = { ...GIT_LIMITS, ...options.limits };
  const root = resolve(options.dataDir);
  const directories = {
    mirrors: join(root, "mirrors"),
    repositories: join(root, "repositories"),
    temporary: join(root, "git", "temporary"),
    home: join(root, "git", "home"),
  };
  await endOrphans(directories.home, options.log);
  for (const folder of [directories.mirrors, directories.repositories]) await removeAllHalfPacks(folder);
  await rm(directories.temporary, { recursive: true, force: true });
  await rm(directories.home, { recursive: true, force: true });
  for (const directory of Object.values(directories))
    await mkdir(directory, { recursive: true, mode: 0o700 });
  const runner = new Runner(directories.home, options.log);
  const version = readVersion(await runVersion(runner, directories.home), {
    info: (message) => options.log.info({}, message),
  });
  return {
    version,
    runner,
    limits,
    log: options.log,
    directories,
    hosts: options.hosts ?? [],
    remote: {
      allowPrivate: options.allowPrivate,
      sshKeys: options.sshKeys,
      resolve: options.resolve,
      limits,
      home: directories.home,
      temporary: directories.temporary,
      knownHosts: join(root, "git", "known_hosts"),
    },
    merges: createGate(heavy(limits)),
    diffs: createGate(heavy(limits)),
    histories: createGate(heavy(limits)),
    downloads: createGate(heavy(limits)),
    lookups: createGate(heavy(limits)),
    checks: createGate(heavy(limits)),
    network: createGate(network(limits)),
    listings: createGate(network(limits)),
    reads: createGate({ ...transfer(limits), total: limits.reads, perKey: limits.readsPerRepository }),
    pushes: createGate({ ...transfer(limits), total: limits.pushes, perKey: limits.pushesPerRepository }),
    upkeep: createGate({ ...network(limits), total: 1, waitMs: limits.upkeepQueueMs }),
    refs: new Freeze(),
    listed: options.listed ?? (() => {}),
    checkpoint: options.checkpoint ?? (() => {}),
  };
}

async function runVersion(runner: Runner, home: string): Promise<string> {
  const environment = withSettings(baseEnvironment(home), []);
  try {
    const answer = await runner.run({
      args: ["version"],
      environment,
      deadlineMs: 10_000,
      outputBytes: 1024,
    });
    return new TextDecoder().decode(answer.stdout);
  } catch {
    return "";
  }
}

function heavy(limits: GitLimits) {
  const {
    heavy: total,
    heavyPerRepository: perKey,
    queue,
    queuePerRepository: queuePerKey,
    queueMs: waitMs,
  } = limits;
  return { total, perKey, queue, queuePerKey, waitMs };
}

function transfer(limits: GitLimits) {
  return { ...heavy(limits), waitMs: limits.transferQueueMs };
}

function network(limits: GitLimits) {
  const { network: total, networkPerRepository: perKey } = limits;
  return { ...heavy(limits), total, perKey };
}
