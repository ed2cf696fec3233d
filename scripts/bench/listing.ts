import { deepStrictEqual, strictEqual } from "node:assert";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathOf, smallFixture, textOf } from "./fixtures.ts";
import { load } from "./load.ts";
import { alternate, median } from "./measure.ts";
import { startPostgres } from "./postgres.ts";
import { makeRemotes, type Remotes } from "./remotes.ts";
import { type Project, type Server, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "list 50 merged change requests, Postgres";
const BAR = { atLeast: 0.6 };
const CHANGE_REQUESTS = 50;
const CONNECTIONS = 16;
const ROUNDS = 6;
const ROUND_SECONDS = 2;

/** Compares a page of 50 merged change requests on Postgres with a bare handler that runs the same SQL (`bare-listing.ts`). */
export async function listing(bench: Workbench): Promise<void> {
  const postgres = await startPostgres(bench);
  if ("missing" in postgres) return bench.report.skip(WHAT, postgres.missing);
  const env = {
    DATABASE_URL: await postgres.createDatabase(),
    SVC_MASTER_KEY: randomBytes(32).toString("hex"),
  };
  const remotes = await makeRemotes(bench, await smallFixture(bench));
  const server = await startServer(bench, { env });
  const project = await server.project(remotes.ours);
  const count = bench.amount(CHANGE_REQUESTS, 2);
  await mergeAll(server, project, remotes, count);
  const bare = await startBare(bench, {
    ...env,
    SVC_PUBLIC_URL: server.url.replace("127.0.0.1", "localhost"),
  });
  const page = `${project.path}/change-requests?status=merged&limit=${count}`;
  await assertSameResponse(server.url + page, bare.url + page, server.token, count);
  const seconds = bench.amount(ROUND_SECONDS, 0.1);
  const rate = async (origin: string) =>
    (await load(origin + page, server.token, CONNECTIONS, seconds)).perSecond;
  const { ours, peer } = await alternate(bench, ROUNDS, {
    ours: () => rate(server.url),
    peer: () => rate(bare.url),
  });
  bench.report.ratio({
    what: WHAT,
    unit: "requests/s",
    ours: median(ours),
    peer: ["bare handler", median(peer)],
    bar: BAR,
  });
  bare.stop();
  await server.stop();
}

async function mergeAll(server: Server, project: Project, remotes: Remotes, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const branch = `work-${index}`;
    await remotes.commit({ branch, from: "main", files: { [pathOf(index)]: textOf(index, 1000 + index) } });
    const { path } = await server.open(project, branch);
    await server.call("POST", `${path}/merge`);
  }
}

async function startBare(bench: Workbench, env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "bare-listing.ts")], {
    env: { ...process.env, ...env, NODE_ENV: "production" },
    stdout: "pipe",
    stderr: "inherit",
  });
  bench.atEnd(() => child.kill("SIGKILL"));
  const { value } = await child.stdout.getReader().read();
  return {
    url: Buffer.from(value ?? [])
      .toString()
      .trim(),
    stop: () => child.kill(),
  };
}

/** Checks that both sides return the same rows. @throws AssertionError with the difference */
async function assertSameResponse(ours: string, bare: string, token: string, count: number): Promise<void> {
  const [left = [], right = []] = await Promise.all(
    [ours, bare].map(async (url) => {
      const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      const answer: { change_requests: Record<string, unknown>[] } = await response.json();
      return answer.change_requests;
    }),
  );
  strictEqual(left.length, count);
  for (const [index, row] of left.entries()) deepStrictEqual(right[index], row);
}
