import { rmSync } from "node:fs";
import { git } from "./git.ts";
import { startHttpBackend } from "./http-backend.ts";
import { interleave } from "./measure.ts";
import { importNoise, makeNoiseRepository } from "./noise.ts";
import type { Bar } from "./report.ts";
import { type Server, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = { list: 40, clone: 7, push: 7 };
const FILE_BYTES = 250_000;
const CLONE_FILES = 400;
const PUSH_FILES = 200;

/** The remote URLs. */
interface Ends {
  /** A project that svc hosts, and one whose git host is a folder on this disk. */
  hosted: string;
  external: string;
  /** The hosted project with the token in the URL, which git sends only after a 401. */
  challenged: string;
  backend: string;
}

/** Compares the gateway with `git http-backend` behind nginx: the same git commands on the same bytes. */
export async function gitGateway(bench: Workbench): Promise<void> {
  const backend = await startHttpBackend(bench);
  if ("missing" in backend) return bench.report.skip("git gateway", backend.missing);
  const server = await startServer(bench);
  const client = await openClient(bench, server);
  const ends = await makeEnds(bench, server, await backend.create("bench"), client);
  await lists(bench, client, ends);
  await clones(bench, client, ends);
  await pushes(bench, client, ends);
  await server.stop();
}

interface Client {
  path: string;
  /** Runs git with the token in a header for both servers, so that both receive the same number of requests. */
  run(...args: string[]): Promise<string>;
}

/** A repository of 100 MB. */
async function openClient(bench: Workbench, { token }: Server): Promise<Client> {
  const noise = { files: bench.amount(CLONE_FILES), fileBytes: FILE_BYTES };
  const path = await makeNoiseRepository(bench, "client", noise);
  const header = ["-c", `http.extraHeader=Authorization: Bearer ${token}`];
  return { path, run: (...args) => git(path, [...header, ...args]) };
}

async function makeEnds(bench: Workbench, server: Server, backend: string, client: Client): Promise<Ends> {
  const host = bench.folder("host");
  await git(host, ["clone", "--quiet", "--bare", "--template=", client.path, "."]);
  const url = async (repository?: string) =>
    `${server.url}/v1/git/${(await server.project(repository)).id}.git`;
  const [hosted, external] = [await url(), await url(host)];
  for (const end of [hosted, backend]) await client.run("push", "--quiet", end, "main");
  return { hosted, external, challenged: hosted.replace("://", `://git:${server.token}@`), backend };
}

async function lists(bench: Workbench, client: Client, ends: Ends): Promise<void> {
  const { hosted, external, challenged, backend } = await interleave(bench, ROUNDS.list, () => [
    { hosted: () => client.run("ls-remote", ends.hosted) },
    { backend: () => client.run("ls-remote", ends.backend) },
    { external: () => client.run("ls-remote", ends.external) },
    { challenged: () => git(client.path, ["ls-remote", ends.challenged]) },
  ]);
  const speed = (ms: number) => 1_000 / ms;
  compare(bench, "git ls-remote", "commands/s", speed(hosted), speed(backend), { atLeast: 1 });
  compare(bench, "git ls-remote, token after a 401", "commands/s", speed(challenged), speed(backend));
  compare(bench, "git ls-remote, external", "commands/s", speed(external), speed(backend));
}

async function clones(bench: Workbench, client: Client, ends: Ends): Promise<void> {
  const folders: string[] = [];
  const clone = (end: string) => () => {
    const folder = bench.folder("clone");
    folders.push(folder);
    return client.run("clone", "--quiet", "--bare", "--template=", end, folder);
  };
  const { hosted, external, backend } = await interleave(bench, ROUNDS.clone, () => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
    return [
      { hosted: clone(ends.hosted) },
      { backend: clone(ends.backend) },
      { external: clone(ends.external) },
    ];
  });
  const speed = megabytesPerSecond(bench.amount(CLONE_FILES));
  compare(bench, "git clone of 100 MB", "MB/s", speed(hosted), speed(backend), { atLeast: 0.9 });
  compare(bench, "git clone of 100 MB, external", "MB/s", speed(external), speed(backend));
}

/** Each round pushes new bytes on a new branch. */
async function pushes(bench: Workbench, client: Client, ends: Ends): Promise<void> {
  const { hosted, external, backend } = await interleave(bench, ROUNDS.push, async (round) => {
    const branch = `round-${round}`;
    await importNoise(client.path, {
      branch,
      from: "main",
      files: bench.amount(PUSH_FILES),
      fileBytes: FILE_BYTES,
      seed: round + 1,
    });
    const push = (end: string) => () => client.run("push", "--quiet", end, branch);
    return [
      { hosted: push(ends.hosted) },
      { backend: push(ends.backend) },
      { external: push(ends.external) },
    ];
  });
  const speed = megabytesPerSecond(bench.amount(PUSH_FILES));
  compare(bench, "git push of 50 MB", "MB/s", speed(hosted), speed(backend), { atLeast: 0.8 });
  compare(bench, "git push of 50 MB, external", "MB/s", speed(external), speed(backend));
}

function megabytesPerSecond(files: number): (ms: number) => number {
  return (ms) => (files * FILE_BYTES) / 1_000 / ms;
}

function compare(
  bench: Workbench,
  what: string,
  unit: "MB/s" | "commands/s",
  ours: number,
  peer: number,
  bar?: Bar,
): void {
  bench.report.ratio({ what, unit, ours, peer: ["git http-backend", peer], ...(bar && { bar }) });
}
