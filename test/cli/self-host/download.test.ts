import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash, sign } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { downloadPrograms } from "../../../cli/commands/self-host/download-programs.ts";
import { stackOf } from "../../../cli/commands/self-host/stack.ts";
import { archiveName, formatSums } from "../../../src/contract/release.ts";
import { VERSION } from "../../../src/contract/version.ts";
import { installSvc } from "../../helpers/installed.ts";
import { needs } from "../../helpers/needs.ts";
import { makeReleaseKey } from "../../helpers/release.ts";

const platform = process.arch === "arm64" ? "linux-arm64" : "linux-x64";
const [API, AGENT] = [archiveName("svc-api", VERSION, platform), archiveName("svc-agent", VERSION, platform)];
const key = makeReleaseKey();

/** What the server has, by name; tests change it. */
const files = new Map<string, Uint8Array>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const name = new URL(url).pathname.replace(`/releases/${VERSION}/`, "");
    const content = files.get(name);
    return content ? new Response(Buffer.from(content)) : new Response("", { status: 404 });
  },
});
afterAll(() => server.stop(true));

const xz = needs("xz (xz-utils)", Bun.which("xz") !== null);

beforeAll(async () => {
  if (Bun.which("xz") === null) return;
  files.set(API, await pack({ "svc-api": "the server" }));
  files.set(AGENT, await pack({ "svc-agent": "the agent", "svc-entrypoint": "the agent" }));
  publish(key);
});

async function pack(members: Record<string, string>): Promise<Uint8Array> {
  const tar = await new Bun.Archive({ ...members, LICENSE: "" }).bytes();
  return Bun.spawnSync(["xz", "-c"], { stdin: tar }).stdout;
}

function publish({ privateKey }: typeof key): void {
  const sums = new Map([API, AGENT].map((name) => [name, digest(files.get(name) ?? new Uint8Array())]));
  const text = Buffer.from(formatSums(sums));
  files.set("SHA256SUMS", text);
  files.set("SHA256SUMS.sig", Buffer.from(`${sign(null, text, privateKey).toString("base64")}\n`));
}

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** A home in which install.sh has recorded the server. @param changes of the record; null: there is none */
function installed(changes: Record<string, unknown> | null = {}) {
  const { home } = installSvc(server.url.origin, key, changes ?? {}).home;
  if (changes === null) rmSync(join(home, ".svc/install.json"));
  const system = { env: { HOME: home }, fetch: (url: string, init: RequestInit) => fetch(url, init) };
  const stack = stackOf(system);
  return { stack, download: () => downloadPrograms(system, stack, ["svc-api", "svc-agent"]) };
}

xz("the programs of the release are verified and unpacked", async () => {
  const { stack, download } = installed();
  await download();
  for (const [name, text] of [
    ["svc-api", "the server"],
    ["svc-agent", "the agent"],
    ["svc-entrypoint", "the agent"],
  ] as const) {
    expect(readFileSync(join(stack.bin, name), "utf8")).toBe(text);
    expect(statSync(join(stack.bin, name)).mode & 0o777).toBe(0o755);
  }
});

const apt = needs("apt and xz", Bun.which("xz") !== null && existsSync("/usr/lib/apt/apt-helper"));

apt("on a Debian without xz, apt unpacks the programs", async () => {
  const { PATH } = process.env;
  const { stack, download } = installed();
  process.env["PATH"] = stack.bin;
  try {
    await download();
  } finally {
    process.env["PATH"] = PATH;
  }
  expect(readFileSync(join(stack.bin, "svc-agent"), "utf8")).toBe("the agent");
});

xz("nothing is installed of a release that is damaged or not by the trusted key", async () => {
  const good = new Map(files);
  const attempts: [string, () => void][] = [
    ["The checksum of", () => files.set(API, Buffer.from("other"))],
    ["not by the trusted key", () => publish(makeReleaseKey())],
    ["status 404", () => files.delete("SHA256SUMS.sig")],
    [`does not contain ${API}`, () => [files.delete(API), publishOnly(AGENT)]],
  ];
  for (const [reason, spoil] of attempts) {
    spoil();
    const { stack, download } = installed();
    await expect(download()).rejects.toThrow(reason);
    expect(existsSync(join(stack.bin, "svc-api"))).toBe(false);
    for (const [name, content] of good) files.set(name, content);
  }
});

function publishOnly(name: string): void {
  const text = Buffer.from(formatSums(new Map([[name, digest(files.get(name) ?? new Uint8Array())]])));
  files.set("SHA256SUMS", text);
  files.set("SHA256SUMS.sig", Buffer.from(sign(null, text, key.privateKey).toString("base64")));
}

test("without a record of the installation the error says what to do", async () => {
  for (const changes of [null, { source: "file:///x" }, { public_key: null }]) {
    const { download } = installed(changes);
    await expect(download()).rejects.toMatchObject({
      code: "self_host",
      extra: { hint: expect.stringContaining("--api-binary") },
    });
  }
});
