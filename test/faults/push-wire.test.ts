import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { FLUSH, packet } from "../../src/git/remote/pkt-line.ts";
import { type GatewayBench, runClient, scratch, setRefs, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { commitOf, idOf, packOf, treeOf } from "../helpers/pack.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";
import { expectUntouched } from "../helpers/untouched.ts";
import { authorizationOf, openWire, postGit, pushOf } from "../helpers/wire.ts";

const test = needs("a real Postgres", POSTGRES);
const MIB = 1024 * 1024;
const LIMITS = { packBytes: 4 * MIB };
/** Clients of this server reach these limits, however fast the machine is. */
const HASTY = { stallMs: 700, transferMs: 2_500 };
const SERVICES = ["git-receive-pack", "git-upload-pack"] as const;
const ZERO = "0".repeat(40);
const ONES = "1".repeat(40);
const MAIN = "refs/heads/main";

const tree = treeOf([]);
const commit = commitOf(idOf("tree", tree));
const id = idOf("commit", commit);
const pack = packOf([
  { type: "tree", data: tree },
  { type: "commit", data: commit },
]);
/** A whole push of that commit to refs/heads/new. */
const push = pushOf(id, pack);

let bench: GatewayBench;
let hasty: GatewayBench;
let first: string;
const folder = scratch();

beforeAll(async () => {
  if (!POSTGRES) return;
  [bench, hasty] = await Promise.all([startGateway({}, LIMITS), startGateway({}, HASTY)]);
  first = bench.remote.sha("main");
  bench.remote.git("push", "--quiet", bench.hosted.directory, `${first}:${MAIN}`);
});

afterEach(async () => {
  if (bench) await expectUntouched(bench, folder.path, { [MAIN]: first });
});

afterAll(async () => {
  await Promise.all([bench?.stop(), hasty?.stop()]);
  folder[Symbol.dispose]();
});

const line = (text: string) => Buffer.from(packet(text));
const create = (ref: string, to = ONES) => line(`${ZERO} ${to} ${ref}\0report-status`);

const NONSENSE: Record<string, Uint8Array> = {
  nothing: Buffer.alloc(0),
  "no packet": Buffer.from("hello, I am not git at all"),
  "a packet of one byte": Buffer.from("0001"),
  "a packet of three bytes": Buffer.from("0003"),
  "an empty packet": Buffer.from("0004"),
  "a packet that is longer than what comes": Buffer.from("ffffabc"),
  "half a length": Buffer.from("00"),
  "a length with a sign": Buffer.from("-001abcd"),
  "bytes of all kinds": Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 7919) % 256)),
  "zeros and nothing else": Buffer.alloc(4096),
  "a command without an end": create("refs/heads/x"),
  "a command that is no command": Buffer.concat([line("drop all tables"), FLUSH]),
  "an upload's words": Buffer.concat([line(`want ${ONES}\n`), FLUSH, line("done\n")]),
  "ids in capitals": Buffer.concat([line(`${ZERO} ${"A".repeat(40)} ${MAIN}`), FLUSH]),
  "ids of another length": Buffer.concat([line(`${ZERO} 1234 ${MAIN}`), FLUSH]),
  "a ref with a line end": Buffer.concat([create("refs/heads/a\nb"), FLUSH]),
  "a ref that is not UTF-8": Buffer.concat([
    Buffer.from(packet(Buffer.concat([Buffer.from(`${ZERO} ${ONES} refs/heads/`), Buffer.from([0xff])]))),
    FLUSH,
  ]),
  "a ref twice": Buffer.concat([create("refs/heads/x"), create("refs/heads/x"), FLUSH]),
  "10,001 refs": Buffer.concat([
    ...Array.from({ length: 10_001 }, (_, n) => line(`${ZERO} ${ONES} refs/heads/${n}`)),
    FLUSH,
  ]),
  "a signed push": Buffer.concat([
    line("push-cert\0report-status"),
    line("certificate version 0.1\n"),
    FLUSH,
  ]),
  "101 options": Buffer.concat([
    line(`${ZERO} ${ONES} refs/heads/x\0push-options`),
    FLUSH,
    ...Array.from({ length: 101 }, () => line("o")),
    FLUSH,
  ]),
  "another version's command": Buffer.concat([line("command=push\n"), Buffer.from("0001"), FLUSH]),
};

test.each([
  ["git-receive-pack", ""],
  ["git-upload-pack", ""],
  ["git-upload-pack", "version=2"],
] as const)("invalid bodies get 4xx or git's error at once: %s %s", async (service, protocol) => {
  for (const [what, body] of Object.entries(NONSENSE)) {
    const headers: Record<string, string> = protocol === "" ? {} : { "Git-Protocol": protocol };
    const { status, text } = await postGit(bench, service, body, headers);
    expect([what, [200, 400]]).toEqual([what, expect.arrayContaining([status])]);
    for (const said of ["unpack ok", bench.api.dataDir, "sent nothing for too long"])
      expect([what, text]).not.toEqual([what, expect.stringContaining(said)]);
  }
});

test("rejects what is no name of a ref with its name", async () => {
  for (const ref of [
    "refs/heads/../../HEAD",
    "refs/heads/-x",
    "refs/heads/x.lock",
    "refs/heads/x y",
    "refs/heads/",
    "refs/../config",
    "HEAD",
    "../../../etc/passwd",
    "refs/heads/x\u0007",
    `refs/heads/${"x".repeat(300)}`,
    "refs/heads/x@{1}",
  ]) {
    const body = Buffer.concat([create(ref, id), FLUSH, pack]);
    const { status, text } = await postGit(bench, "git-receive-pack", body);
    expect([status, text]).toEqual([200, expect.stringContaining(`ng ${ref} not a ref name`)]);
  }
});

describe("svc's own refs are hidden", () => {
  test.each(["", "version=1", "version=2"])("from a listing, protocol %p", async (protocol) => {
    const refs = { [MAIN]: first, "refs/cr/1/head": first, "refs/svc/saved/x": first };
    await setRefs(bench.hosted.directory, refs);
    try {
      for (const service of SERVICES) {
        const answer = await fetch(`${bench.url(bench.hosted, null)}/info/refs?service=${service}`, {
          headers: { Authorization: authorizationOf(bench), "Git-Protocol": protocol },
        });
        expect(await answer.text()).not.toMatch(/refs\/(?:cr|svc)/);
      }
      const question = [
        line("command=ls-refs\n"),
        Buffer.from("0001"),
        line("ref-prefix refs/cr/\n"),
        line("ref-prefix refs/svc/\n"),
        line("ref-prefix refs/\n"),
        FLUSH,
      ];
      const headers = { "Git-Protocol": "version=2" };
      const { text } = await postGit(bench, "git-upload-pack", Buffer.concat(question), headers);
      expect(text).toContain(MAIN);
      expect(text).not.toMatch(/refs\/(?:cr|svc)/);
      const url = bench.url(bench.hosted, bench.api.token);
      for (const version of ["0", "2"]) {
        const asked = ["-c", `protocol.version=${version}`, "ls-remote", url];
        expect((await runClient(folder.path, ...asked)).out).not.toMatch(/refs\/(?:cr|svc)/);
      }
      const want = [
        line("command=fetch"),
        Buffer.from("0001"),
        line("want-ref refs/cr/1/head"),
        line("done"),
        FLUSH,
      ];
      expect(await postGit(bench, "git-upload-pack", Buffer.concat(want), headers)).toEqual({
        status: 200,
        text: "",
      });
    } finally {
      await setRefs(bench.hosted.directory, { [MAIN]: first });
    }
  });
});

describe("the type and encoding of a body", () => {
  test.each(SERVICES)("%s: rejects other content types", async (service) => {
    for (const type of [
      "text/plain",
      "",
      "application/json",
      "application/x-git-receive-pack",
      'a/b; c="d',
    ]) {
      const { status, text } = await postGit(bench, service, push, { "Content-Type": type });
      expect(status).toBe(404);
      expect(text).toContain("smart HTTP");
    }
  });

  test.each(SERVICES)("%s: an unknown or invalid encoding is 400", async (service) => {
    for (const encoding of ["br", "deflate", "zstd", "gzip, gzip", "chunked"]) {
      expect(await postGit(bench, service, push, { "Content-Encoding": encoding })).toMatchObject({
        status: 400,
      });
    }
    const gzip = { "Content-Encoding": "gzip" };
    const whole = gzipSync(push);
    for (const body of [push, whole.subarray(0, -9), whole.subarray(0, 12), Buffer.alloc(0)]) {
      const { status, text } = await postGit(bench, service, body, gzip);
      expect([200, 400]).toContain(status);
      expect(text).not.toContain("unpack ok");
    }
  });

  test("a gzip bomb of 256 MiB stops at the limit, in limited memory", async () => {
    const gzip = { "Content-Encoding": "gzip" };
    const head = Buffer.concat([create("refs/heads/new", id), FLUSH]);
    const zeros = Buffer.alloc(256 * MIB);
    const bombs = [
      ["git-upload-pack", gzipSync(zeros)],
      ["git-receive-pack", gzipSync(Buffer.concat([head, zeros]))],
      ["git-receive-pack", gzipSync(Buffer.concat([head, pack.subarray(0, 12), zeros]))],
    ] as const;
    for (const [service, bomb] of bombs) {
      const before = process.memoryUsage().rss;
      const { status, text } = await postGit(bench, service, bomb, gzip);
      expect([200, 413]).toContain(status);
      expect(text).not.toContain("unpack ok");
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * MIB);
    }
  });
});

describe("on the wire", () => {
  const start = (headers: string[], to = bench) =>
    [
      `POST /v1/git/${to.hosted.project.project_id}.git/git-receive-pack HTTP/1.1`,
      `Host: ${new URL(to.api.url).host}`,
      `Authorization: ${authorizationOf(to)}`,
      "Content-Type: application/x-git-receive-pack-request",
      ...headers,
      "\r\n",
    ].join("\r\n");

  test("accepts chunks of any size after Expect: 100-continue", async () => {
    const wire = await openWire(bench);
    wire.write(start(["Transfer-Encoding: chunked", "Expect: 100-continue"]));
    await until("100 Continue came", () => wire.text().startsWith("HTTP/1.1 100 Continue\r\n\r\n"));
    for (let at = 0, size = 1; at < push.length; at += size, size = (size * 3) % 17 || 1) {
      const chunk = push.subarray(at, at + size);
      wire.write(`${chunk.length.toString(16)}\r\n`);
      wire.write(chunk);
      wire.write("\r\n");
    }
    wire.write("0\r\n\r\n");
    await until("the push is answered", () => wire.text().includes("ok refs/heads/new"));
    expect(wire.text()).toContain("unpack ok");
    wire.close();
    await setRefs(bench.hosted.directory, { [MAIN]: first });
  });

  test.each([
    ["in its commands", 30],
    ["before its pack", push.length - pack.length],
    ["in its pack", push.length - 25],
  ])("disconnects a client that stops sending %s", async (_, at) => {
    const wire = await openWire(hasty);
    wire.write(start([`Content-Length: ${push.length}`], hasty));
    wire.write(push.subarray(0, at));
    await until("an answer came", () => wire.text().includes("sent nothing for too long"));
    wire.close();
    await expectUntouched(hasty, folder.path, {});
  });

  test("disconnects a client that sends too slowly", async () => {
    const wire = await openWire(hasty);
    wire.write(start([`Content-Length: ${push.length}`], hasty));
    let ended = false;
    wire.closed.then(() => {
      ended = true;
    });
    for (let at = 0; !wire.text() && !ended; at++) {
      wire.write(push.subarray(at, at + 1));
      await Bun.sleep(100);
    }
    expect(wire.text()).toContain("sent nothing for too long");
    wire.close();
    await expectUntouched(hasty, folder.path, {});
  });

  test("leaves nothing of a client that disconnects during a push", async () => {
    const wire = await openWire(bench);
    wire.write(start([`Content-Length: ${push.length}`]));
    wire.write(push.subarray(0, -25));
    const temporary = join(bench.api.dataDir, "git", "temporary");
    await until("the pack comes in", () => readdirSync(temporary).length > 0);
    wire.close();
    await until("the quarantine is gone", () => readdirSync(temporary).length === 0);
  });

  test("reports a push over the size limit, and disconnects one far over it", async () => {
    const large = (bytes: number) => {
      const data = crypto.getRandomValues(new Uint8Array(65_536));
      const blobs = Array.from({ length: Math.ceil(bytes / 65_536) }, (_, n) => ({
        type: "blob" as const,
        data: data.map((byte) => byte ^ n),
      }));
      return pushOf(id, packOf([...blobs, { type: "tree", data: tree }, { type: "commit", data: commit }]));
    };
    const told = await postGit(bench, "git-receive-pack", large(LIMITS.packBytes + MIB));
    expect(told.text).toContain("unpack pack exceeds maximum allowed size");
    const cut = await postGit(bench, "git-receive-pack", large(3 * LIMITS.packBytes));
    expect(cut.text).toContain("larger than");
  });
});
