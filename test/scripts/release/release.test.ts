import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../scripts/binaries.ts";
import { license } from "../../../scripts/release/artifact.ts";
import { compileTarget } from "../../../scripts/release/compile.ts";
import { run } from "../../../scripts/run.ts";
import { archiveName, platformOf, readSignedSums, SBOM_FILE } from "../../../src/contract/release.ts";
import { VERSION } from "../../../src/contract/version.ts";
import { needs } from "../../helpers/needs.ts";

// One release of svc for this machine's platform, and what people do with it.
const platform = platformOf(process.platform, process.arch, false);
if (!platform) throw new Error("releases have no programs for this machine");
const archive = archiveName("svc", VERSION, platform);
const folder = mkdtempSync(join(tmpdir(), "svc-release-test-"));
const releases = join(folder, "releases");
const packages = join(releases, "npm", VERSION);
const inRelease = (name: string) => join(releases, VERSION, name);
const OTHER_PROCESSOR = 'data:text/javascript,Object.defineProperty(process,"arch",{value:"riscv64"})';
let said = "";

beforeAll(async () => {
  const words = ["--only", platform, "--program", "svc", "--fast", "--out", releases];
  // a home of its own for the key, but the cache of this user, which has the Bun of this platform
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const env = {
    ...process.env,
    HOME: folder,
    XDG_CONFIG_HOME: "",
    XDG_CACHE_HOME: cache,
    SVC_RELEASE_KEY: "",
  };
  const { code, out, err } = await run([process.execPath, "scripts/release.ts", ...words], {
    cwd: ROOT,
    env,
  });
  if (code !== 0) throw new Error(`${out}${err}`);
  said = out;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("each program is checked and run", () => {
  expect(said).toMatch(new RegExp(`^ok    svc ${platform}: ELF .*; runs; [0-9.]+ MB\n`));
  expect(readFileSync(join(releases, "latest"), "utf8")).toBe(`${VERSION}\n`);
});

test("the signature and the checksums are right, for our code and for openssl and sha256sum", async () => {
  const sums = await readSignedSums(
    readFileSync(inRelease("SHA256SUMS")),
    readFileSync(inRelease("SHA256SUMS.sig"), "utf8"),
    readFileSync(join(releases, "release-key.pub"), "utf8"),
  );
  expect([...sums.keys()]).toEqual([SBOM_FILE, archive]);
  writeFileSync(
    join(folder, "signature"),
    Buffer.from(readFileSync(inRelease("SHA256SUMS.sig"), "utf8"), "base64"),
  );
  const verify = [
    "openssl",
    "pkeyutl",
    "-verify",
    "-pubin",
    "-inkey",
    join(releases, "release-key.pub"),
    "-rawin",
  ];
  const openssl = await run([
    ...verify,
    "-in",
    inRelease("SHA256SUMS"),
    "-sigfile",
    join(folder, "signature"),
  ]);
  expect(openssl).toMatchObject({ code: 0 });
  const sha256sum = await run(["sha256sum", "--check", "--strict", "SHA256SUMS"], {
    cwd: join(releases, VERSION),
  });
  expect(sha256sum).toMatchObject({ code: 0, out: `${SBOM_FILE}: OK\n${archive}: OK\n` });
});

needs("xz", Bun.which("xz") !== null)(
  "a second build has the same bytes as the program in the archive, which tar unpacks",
  async () => {
    const [unpacked, again] = [join(folder, "unpacked"), join(folder, "again")];
    mkdirSync(unpacked);
    expect(await run(["tar", "-xf", inRelease(archive)], { cwd: unpacked })).toMatchObject({ code: 0 });
    expect(readdirSync(unpacked).sort()).toEqual(["LICENSE", "svc"]);
    const program = await compileTarget(
      { program: "svc", platform },
      readFileSync(join(releases, "release-key.pub"), "utf8"),
      again,
    );
    expect((await readFile(program)).equals(await readFile(join(unpacked, "svc")))).toBe(true);
    expect(await readFile(join(unpacked, "LICENSE"))).toEqual(Buffer.from(await license()));
  },
);

test("npx runs svc from the packed files, without a network", async () => {
  const prefix = join(folder, "prefix");
  mkdirSync(prefix);
  const env = {
    ...process.env,
    npm_config_offline: "true",
    npm_config_cache: join(folder, "npm-cache"),
    npm_config_update_notifier: "false",
  };
  const tarballs = readdirSync(packages).map((name) => join(packages, name));
  expect(tarballs).toHaveLength(2);
  const installed = await run(
    ["npm", "install", "--prefix", prefix, "--no-audit", "--no-fund", ...tarballs],
    { env, cwd: prefix },
  );
  expect(installed).toMatchObject({ code: 0 });
  const npx = await run(["npx", "svc-cli", "version"], { env, cwd: prefix });
  expect(npx).toMatchObject({ code: 0, out: `${VERSION}\n` });

  // what npx starts, without npm
  const shim = join(prefix, "node_modules/svc-cli/bin/svc.mjs");
  const failing = await run(["node", shim, "--bogus"], { env, cwd: prefix });
  expect(failing.code).toBe(2);
  const other = await run(["node", "--import", OTHER_PROCESSOR, shim, "version"]);
  expect(other.code).toBe(1);
  expect(other.err).toStartWith("error: svc has no program for linux-riscv64");
  expect(other.err).toContain("It has programs for: linux-x64, linux-x64-musl, ");

  rmSync(join(prefix, "node_modules/@svc-cli"), { recursive: true });
  const without = await run(["node", shim, "version"], { env, cwd: prefix });
  expect(without.code).toBe(1);
  expect(without.err).toStartWith(
    `error: The package @svc-cli/${platform} ${VERSION} with the program is not installed.`,
  );
});

test("the public key is compiled into the programs that use it", async () => {
  const pem = readFileSync(join(releases, "release-key.pub"), "utf8");
  const outfile = join(folder, "contract.js");
  const define = `--define=SVC_BUILD_RELEASE_KEY=${JSON.stringify(pem)}`;
  const words = ["build", "--minify", define, `--outfile=${outfile}`, "src/contract/release.ts"];
  expect(await run([process.execPath, ...words], { cwd: ROOT })).toMatchObject({ code: 0 });
  expect((await import(outfile)).RELEASE_PUBLIC_KEY).toBe(pem);
});
