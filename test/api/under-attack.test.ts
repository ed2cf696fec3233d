import { afterAll, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { freePort } from "../../scripts/free-port.ts";
import { FLUSH, packet } from "../../src/git/remote/pkt-line.ts";
import { type AttackedServer, expectServed, flood, startAttacked } from "../helpers/attacked-server.ts";
import { bomb } from "../helpers/bomb.ts";
import { createRepository, temporary } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres on Linux", POSTGRES && process.platform === "linux");

let server: AttackedServer;

beforeAll(async () => {
  if (POSTGRES) server = await startAttacked({ SVC_ALLOW_PRIVATE_REPOS: "1" });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const ENDLESS = "Host: localhost\r\nContent-Length: 1000000000000\r\n\r\n";
const CHUNKED = "Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n";

/** What the kernel holds for a connection, and what is read of a body so that the client comes to read its answer. */
const TAKEN_MAX_BYTES = 32 * 1024 * 1024;

test("disconnects clients that keep sending after their response, and serves others meanwhile", async () => {
  const heads = [
    `POST /v1/projects HTTP/1.1\r\n${ENDLESS}`,
    `POST /v1/projects HTTP/1.1\r\n${CHUNKED}`,
    `GET /v1/health HTTP/1.1\r\n${ENDLESS}`,
    `POST /v1/nowhere HTTP/1.1\r\n${CHUNKED}`,
    `POST /v1/git/x.git/git-receive-pack HTTP/1.1\r\n${ENDLESS}`,
    `POST /v1/p/x/8000/ HTTP/1.1\r\n${ENDLESS}`,
  ];
  let taken: number[] = [];
  const served = await server.under(async () => {
    taken = await Promise.all([...heads, ...heads].map((head) => flood(server.url, head)));
  });
  expectServed(served);
  expect(Math.max(...taken)).toBeLessThan(TAKEN_MAX_BYTES);
});

test("serves others during repeated requests for a diff of 10^11 paths", async () => {
  await using directory = await temporary();
  const upstream = await createRepository(join(directory.path, "up"));
  await bomb(upstream, 11);
  const project = (
    await server.call("POST", "/v1/projects", { body: { name: "Bomb", repo_url: upstream.url } })
  ).body;
  const path = `/v1/projects/${project.project_id}/change-requests`;
  expect((await server.call("POST", path, { body: { title: "t", head_ref: "bomb" } })).status).toBe(201);
  const codes = new Set<string>();
  const served = await server.under(async (stopped) => {
    const ask = async () => {
      do codes.add((await server.call("GET", `${path}/1/diff`)).body.code);
      while (!stopped.aborted);
    };
    await Promise.all(Array.from({ length: 8 }, ask));
  });
  expectServed(served);
  expect([...codes]).toEqual(["payload_too_large"]);
});

test("serves others during pushes of too many refs, and silent pushes", async () => {
  const project = (await server.call("POST", "/v1/projects", { body: { name: "Pushed" } })).body;
  const url = `${server.url}/v1/git/${project.project_id}.git/git-receive-pack`;
  const line = packet(`${"0".repeat(40)} ${"1".repeat(40)} refs/heads/${"x".repeat(200)}\0report-status`);
  const headers = {
    Authorization: `Basic ${Buffer.from(`x:${server.token}`).toString("base64")}`,
    "Content-Type": "application/x-git-receive-pack-request",
  };
  const tooMany = Buffer.concat([...Array(10_001).fill(line), FLUSH]);
  const statuses = new Set<number>();
  const served = await server.under(async (stopped) => {
    const silent = Array.from({ length: 40 }, () => {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(line)) });
      return fetch(url, { method: "POST", headers, body, signal: stopped }).catch(() => null);
    });
    const push = async () => {
      do statuses.add((await fetch(url, { method: "POST", headers, body: tooMany })).status);
      while (!stopped.aborted);
    };
    await Promise.all([...silent, push(), push()]);
  });
  expectServed(served);
  expect([...statuses]).toEqual([400]);
});

describe("the metrics", () => {
  const readers = 16;
  /** Reads made by each reader at least. */
  const READS = 4;
  const read = async (url: string, token: string | null, stopped: AbortSignal) => {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
    const answers: { status: number; page: string }[] = [];
    do {
      const answer = await fetch(`${url}/metrics`, { headers });
      answers.push({ status: answer.status, page: await answer.text() });
    } while (answers.length < READS || !stopped.aborted);
    return answers;
  };

  test.each([
    ["an owner", 200],
    ["a stranger", 401],
  ])("do not delay others: read by %s", async (who, status) => {
    let answers: Awaited<ReturnType<typeof read>> = [];
    const served = await server.under(async (stopped) => {
      const token = status === 200 ? server.token : null;
      const all = await Promise.all(Array.from({ length: readers }, () => read(server.url, token, stopped)));
      answers = all.flat();
    });
    expectServed(served);
    expect([who, ...new Set(answers.map((answer) => answer.status))]).toEqual([who, status]);
    // each collection counts what was asked before, and differs: a few are shared by all readers
    const collected = new Set(answers.map(({ page }) => page)).size;
    expect(collected).toBeLessThan(answers.length / 8);
  });

  test("with SVC_METRICS_LISTEN are public at that address, and nowhere else", async () => {
    const listen = `127.0.0.1:${await freePort()}`;
    await using apart = await startAttacked({ SVC_METRICS_LISTEN: listen });
    const own = `http://${listen}`;
    const page = await fetch(`${own}/metrics`);
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("text/plain; version="),
    ]);
    expect(await page.text()).toContain("svc_http_request_seconds");
    expect((await fetch(`${own}/v1/health`)).status).toBe(404);
    expect((await fetch(`${own}/metrics`, { method: "POST" })).status).toBe(405);
    expect((await apart.call("GET", "/metrics")).status).toBe(404);
    expect((await apart.call("GET", "/metrics", { token: null })).status).toBe(401);
    const served = await apart.under((stopped) =>
      Promise.all(Array.from({ length: readers }, () => read(own, null, stopped))),
    );
    expectServed(served);
  });

  test("require an owner, and are disabled with open sign-up", async () => {
    const project = (await server.call("POST", "/v1/projects", { body: { name: "Metrics" } })).body;
    const { token } = (await server.call("POST", `/v1/projects/${project.project_id}/cli-token`)).body;
    expect((await server.call("GET", "/metrics", { token })).status).toBe(403);
    await using open = await startAttacked({ SVC_SIGN_UP: "open" });
    const refused = await open.call("GET", "/metrics");
    expect([refused.status, refused.body.error]).toEqual([
      403,
      expect.stringContaining("SVC_METRICS_LISTEN"),
    ]);
  });
});
