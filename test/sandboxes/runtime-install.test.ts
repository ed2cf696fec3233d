import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import { findPlugins, findRuntime } from "../../src/sandboxes/runtime/find.ts";
import { installRuntime, runtimeFolder } from "../../src/sandboxes/runtime/install.ts";
import type { Package } from "../../src/sandboxes/runtime/packages.ts";
import { cleanEnvironment } from "../helpers/api.ts";

/** Answers for the npm registry; what it gives for a path, in turn. */
let registry: ReturnType<typeof Bun.serve>;
let answers: Record<string, ((tarball: Buffer<ArrayBuffer>) => Response)[]>;
let asked: string[];
const tarballs = new Map<string, Buffer<ArrayBuffer>>();
let dataDir: string;

beforeEach(() => {
  answers = {};
  asked = [];
  tarballs.clear();
  dataDir = mkdtempSync(join(tmpdir(), "svc-install-"));
  registry = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      const tarball = tarballs.get(pathname);
      if (!tarball) return new Response("no such package", { status: 404 });
      return answers[pathname]?.shift()?.(tarball) ?? new Response(tarball);
    },
  });
});
afterEach(async () => {
  await registry.stop(true);
  rmSync(dataDir, { recursive: true, force: true });
});

const PROGRAM = "/opencode-here/-/opencode-here-1.tgz";
const PLUGIN = "/@opencode-ai/plugin/-/plugin-1.tgz";

/** Puts a package with these files into the registry. */
async function publish(name: string, files: Record<string, string>): Promise<Package> {
  const tar = pack();
  for (const [path, text] of Object.entries(files))
    tar.entry({ name: path, mode: path.includes("/bin/") ? 0o755 : 0o644 }, text);
  tar.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of tar) if (part instanceof Uint8Array) parts.push(part);
  const tarball = gzipSync(Buffer.concat(parts));
  tarballs.set(`/${name}/-/${name.split("/").at(-1)}-1.tgz`, tarball);
  const digest = new Bun.CryptoHasher("sha512").update(tarball).digest("base64");
  return { name, version: "1", bytes: tarball.length, integrity: `sha512-${digest}` };
}

const says = (text: string) => `#!/bin/sh\necho '${text}'\n`;

async function packages(program: Record<string, string> = {}) {
  return {
    program: await publish("opencode-here", { "package/bin/opencode": says(RUNTIME_VERSION), ...program }),
    plugins: [
      await publish("@opencode-ai/plugin", {
        "package/dist/tool.js": "export {}\n",
        "package/dist/tool.js.map": "{}",
      }),
      await publish("zod", { "package/index.js": "export {}\n" }),
    ],
  };
}

function install(
  wanted: Awaited<ReturnType<typeof packages>>,
  onProgress: (done: number, total: number) => void = () => {},
) {
  const options = { dataDir, registry: `http://127.0.0.1:${registry.port}`, onProgress, packages: wanted };
  return installRuntime(options, new AbortController().signal);
}

test("installs the program and its plugins' packages in the data folder, once, and finds them there", async () => {
  const wanted = await packages();
  const seen: number[] = [];
  const folder = await install(wanted, (done, total) => seen.push(done / total));
  expect(folder).toBe(runtimeFolder(dataDir));
  expect(seen.at(-1)).toBe(1);
  // the agent's user enters it
  expect(statSync(folder).mode & 0o777).toBe(0o755);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(statSync(join(folder, "bin/opencode")).mode & 0o777).toBe(0o755);
  expect(readdirSync(join(folder, "plugins/node_modules/@opencode-ai/plugin/dist"))).toEqual(["tool.js"]);
  expect(readdirSync(join(dataDir, "runtime"))).toEqual([`opencode-${RUNTIME_VERSION}`]);
  const path = process.env["PATH"];
  process.env["PATH"] = "/nonexistent";
  try {
    const options = { dataDir, runtime: null, binaries: "/nonexistent/dist" };
    expect(findRuntime(options)).toBe(join(folder, "bin/opencode"));
    expect(findPlugins(options)).toBe(join(folder, "plugins"));
  } finally {
    process.env["PATH"] = path;
  }
  const before = asked.length;
  await install(wanted);
  expect(asked).toHaveLength(before);
});

test("concurrent installations leave one", async () => {
  const wanted = await packages();
  expect(new Set(await Promise.all([install(wanted), install(wanted), install(wanted)])).size).toBe(1);
  expect(readdirSync(join(dataDir, "runtime"))).toEqual([`opencode-${RUNTIME_VERSION}`]);
});

const failing = () => new Response("busy", { status: 503 });
const half = (tarball: Buffer<ArrayBuffer>) => new Response(tarball.subarray(0, tarball.length / 2));

test.each<[string, string, (tarball: Buffer<ArrayBuffer>) => Response]>([
  ["fails", PROGRAM, failing],
  ["is cut off", PROGRAM, half],
  ["fails for a plugin's package", PLUGIN, failing],
])("retries a download that %s", async (_, path, answer) => {
  const wanted = await packages();
  answers[path] = [answer];
  await install(wanted);
  expect(asked.filter((one) => one === path)).toHaveLength(2);
});

test.each<[string, RegExp, () => Promise<Awaited<ReturnType<typeof packages>>>]>([
  [
    "another package than ours",
    /is not the package that svc was built for/,
    async () => {
      const wanted = await packages();
      answers[PLUGIN] = [(tarball) => new Response(Buffer.alloc(tarball.length, 7))];
      return wanted;
    },
  ],
  [
    "one that is longer",
    /is not the package that svc was built for/,
    async () => {
      const wanted = await packages();
      answers[PROGRAM] = [(tarball) => new Response(Buffer.concat([tarball, tarball]))];
      return wanted;
    },
  ],
  [
    "none",
    /127\.0\.0\.1:\d+ has no zod 1\./,
    async () => {
      const wanted = await packages();
      tarballs.delete("/zod/-/zod-1.tgz");
      return wanted;
    },
  ],
  ["a file outside of its folder", /invalid name/, () => packages({ "package/../../x": "1" })],
  [
    "another version",
    /does not run on this machine/,
    () => packages({ "package/bin/opencode": says("2.0.0") }),
  ],
  [
    "a program for another machine",
    /does not run on this machine/,
    () => packages({ "package/bin/opencode": "\x7fELF" }),
  ],
])("leaves nothing behind if the registry returns %s", async (_, reason, prepare) => {
  await expect(install(await prepare())).rejects.toThrow(reason);
  expect(readdirSync(join(dataDir, "runtime"))).toEqual([]);
});

test("reports a missing network and an unsupported system in one sentence", async () => {
  const wanted = await packages();
  await registry.stop(true);
  await expect(install(wanted)).rejects.toThrow(
    /Cannot download the agent runtime.*Check the network connection/,
  );
  expect(readdirSync(join(dataDir, "runtime"))).toEqual([]);
});

test("a cancelled installation ends at once, and leaves nothing behind", async () => {
  const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
  const quiet = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch() {
      onAsked();
      return await new Promise<Response>(() => {});
    },
  });
  const child = Bun.spawn([process.execPath, resolve("src/main.ts"), "runtime", "install"], {
    env: { ...cleanEnvironment(), SVC_DATA_DIR: dataDir, SVC_NPM_REGISTRY: `http://127.0.0.1:${quiet.port}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await isAsked;
  child.kill("SIGINT");
  expect(await child.exited).toBe(1);
  expect(await new Response(child.stderr).text()).toContain("The installation was cancelled");
  expect(readdirSync(join(dataDir, "runtime"))).toEqual([]);
  await quiet.stop(true);
});

test("reports a data folder that is not writable, without its path", async () => {
  const wanted = await packages();
  rmSync(dataDir, { recursive: true });
  await Bun.write(dataDir, "a file");
  const error = await install(wanted).catch((thrown: Error) => thrown);
  expect(String(error)).toMatch(/Cannot write to the data folder \(E[A-Z]+\)/);
  expect(readFileSync(dataDir, "utf8")).toBe("a file");
});
