import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { FLUSH, packet } from "../../src/git/remote/pkt-line.ts";
import {
  type GatewayBench,
  refsOf,
  runClient,
  type SessionOf,
  scratch,
  startGateway,
} from "../helpers/gateway.ts";
import { createRepository, type TestRepository } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { packOf } from "../helpers/pack.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";
import { authorizationOf, openWire, postGit, type Wire } from "../helpers/wire.ts";

const test = needs("a real Postgres", POSTGRES);

/** More than any pool has slots: of one caller, of one repository, and in all. */
const MANY = 40;
const ZERO = "0".repeat(40);

let bench: GatewayBench;
let work: TestRepository;
let first: string;
let session: SessionOf;
const folder = scratch();
const wires: Wire[] = [];

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  work = await createRepository(join(folder.path, "work.git"));
  first = (await work.write([{ name: "first", branch: "main", files: { f: "1\n" } }]))["first"] ?? "";
  await work.git("push", "--quiet", bench.hosted.directory, `${first}:refs/heads/main`);
  session = await bench.session(bench.hosted);
});

afterEach(() => {
  for (const wire of wires.splice(0)) wire.close();
});

afterAll(async () => {
  await bench?.stop();
  folder[Symbol.dispose]();
});

/** A push of the bench's user that says no more than this, and stays. */
async function silentPush(said: Uint8Array): Promise<void> {
  const wire = await openWire(bench);
  wires.push(wire);
  const { pathname } = new URL(`${bench.url(bench.hosted, null)}/git-receive-pack`);
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    "Host: localhost",
    `Authorization: ${authorizationOf(bench)}`,
    "Content-Type: application/x-git-receive-pack-request",
    "Content-Length: 1000000",
  ];
  wire.write(`${lines.join("\r\n")}\r\n\r\n`);
  wire.write(said);
}

const COMMANDS = () => packet(`${ZERO} ${first} refs/heads/silent\0report-status`);

describe("silent pushes of one caller", () => {
  const rows: [string, () => Uint8Array][] = [
    ["without a body", () => Buffer.alloc(0)],
    ["without the end of their commands", COMMANDS],
    ["without a pack", () => Buffer.concat([COMMANDS(), FLUSH])],
  ];
  test.each(rows)("%s block neither clones nor pushes of other callers", async (_, said) => {
    for (let count = 0; count < MANY; count++) await silentPush(said());
    // all of them are at the gateway once a later request was answered
    expect((await bench.api.call("GET", "/v1/accounts/me")).status).toBe(200);
    for (const [who, credential] of Object.entries({
      same: bench.api.token,
      other: session.cloneCredential,
    })) {
      const clone = join(folder.path, `${who}-${crypto.randomUUID()}`);
      const cloned = await runClient(
        folder.path,
        "clone",
        "--quiet",
        bench.url(bench.hosted, credential),
        clone,
      );
      expect([who, cloned.code, cloned.err]).toEqual([who, 0, ""]);
    }
    const next = (await work.write([{ name: "next", parents: [first], files: { f: `${said().length}\n` } }]))[
      "next"
    ];
    const url = bench.url(bench.hosted, session.cloneCredential);
    const target = `refs/heads/${session.branch}`;
    const pushed = await runClient(
      work.directory,
      "push",
      "--quiet",
      "--force-with-lease",
      url,
      `${next}:${target}`,
    );
    expect([pushed.code, pushed.err]).toEqual([0, ""]);
    expect((await refsOf(bench.hosted.directory))[target]).toBe(next ?? "");
    const { code } = await runClient(bench.hosted.directory, "update-ref", "-d", target);
    expect(code).toBe(0);
    // nothing waited for them to be given up, which takes half a minute
    expect(wires.map((wire) => wire.text())).toEqual(Array(MANY).fill(""));
  });
});

const commands = (refs: readonly string[], from: string, to: string) =>
  Buffer.concat([
    ...refs.map((ref, n) => packet(`${from} ${to} ${ref}${n === 0 ? "\0report-status delete-refs" : ""}`)),
    FLUSH,
  ]);

test("accepts a push of 10,000 refs, and rejects one of 10,001 before it reads the pack", async () => {
  const second =
    (await work.write([{ name: "second", parents: [first], files: { f: "2\n" } }]))["second"] ?? "";
  await work.git("push", "--quiet", bench.hosted.directory, `${second}:refs/heads/second`);
  const refs = Array.from({ length: 10_000 }, (_, n) => `refs/heads/many/${n}`);
  for (const [from, to] of [
    [ZERO, first],
    [first, second],
    [second, ZERO],
  ] as const) {
    const body = Buffer.concat([commands(refs, from, to), to === ZERO ? Buffer.alloc(0) : packOf([])]);
    const answer = await postGit(bench, "git-receive-pack", body);
    expect([answer.status, answer.text.match(/ok refs\/heads\/many\/\d+\n/g)?.length]).toEqual([200, 10_000]);
    const now = Object.entries(await refsOf(bench.hosted.directory)).filter(([ref]) =>
      ref.includes("/many/"),
    );
    expect(now.filter(([, id]) => id === to).length).toBe(to === ZERO ? 0 : 10_000);
  }
  const wire = await openWire(bench);
  wires.push(wire);
  const { pathname } = new URL(`${bench.url(bench.hosted, null)}/git-receive-pack`);
  wire.write(
    `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorizationOf(bench)}\r\nContent-Type: application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const head = commands([...refs, "refs/heads/one-more"], ZERO, first);
  wire.write(`${head.length.toString(16)}\r\n`);
  wire.write(head);
  // the body goes on, and is never sent
  await until("it is refused", () => wire.text().includes("at most 10000 refs"));
  expect(wire.text()).toStartWith("HTTP/1.1 400");
});
