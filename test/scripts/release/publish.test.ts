import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../scripts/binaries.ts";
import { readReleaseArguments } from "../../../scripts/release/arguments.ts";
import { signingKey } from "../../../scripts/release/key.ts";
import { lockedPackages } from "../../../scripts/release/locked-packages.ts";
import { publishRelease } from "../../../scripts/release/publish.ts";
import { sbomOf } from "../../../scripts/release/sbom.ts";
import { targetsOf } from "../../../scripts/release/targets.ts";
import { PLATFORMS, readSignedSums } from "../../../src/contract/release.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-publish-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string) => readFileSync(join(folder, path), "utf8");

describe("the key", () => {
  test("is created once, for its owner alone, and signs", async () => {
    const home = { HOME: join(folder, "home") };
    const first = signingKey(home);
    const file = join(folder, "home/.config/svc-release/key.pem");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const sums = Buffer.from(`${"a".repeat(64)}  svc\n`);
    const again = signingKey(home);
    expect(again.publicKey).toBe(first.publicKey);
    expect(await readSignedSums(sums, again.sign(sums), first.publicKey)).toHaveProperty("size", 1);
    const named = signingKey({ SVC_RELEASE_KEY: file, HOME: join(folder, "nobody") });
    expect(named.publicKey).toBe(first.publicKey);
  });

  test.each([
    ["a missing file", null, "Cannot read the release key"],
    ["another text", "no key", "Cannot read the release key"],
    [
      "a key of another kind",
      generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
      "is not an Ed25519 key, but ec",
    ],
  ])("%s is refused, and none is created in its place", (_what, text, message) => {
    const file = join(folder, "named.pem");
    rmSync(file, { force: true });
    if (text !== null) writeFileSync(file, text);
    expect(() => signingKey({ SVC_RELEASE_KEY: file })).toThrow(message);
  });
});

describe("the folder of releases", () => {
  const key = signingKey({ HOME: join(folder, "home") });
  const publish = (version: string, text: string) =>
    publishRelease(join(folder, "releases"), version, new Map([["svc.txt", Buffer.from(text)]]), key);

  test("has the signed sums of a version's files", async () => {
    publish("1.0.0", "one");
    const sums = Buffer.from(read("releases/1.0.0/SHA256SUMS"));
    const found = await readSignedSums(
      sums,
      read("releases/1.0.0/SHA256SUMS.sig"),
      read("releases/release-key.pub"),
    );
    expect([...found]).toEqual([
      ["svc.txt", "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"],
    ]);
  });

  test("replaces a version, and leaves nothing unfinished", () => {
    publish("1.0.0", "two");
    expect(read("releases/1.0.0/svc.txt")).toBe("two");
    expect(readdirSync(join(folder, "releases")).sort()).toEqual(["1.0.0", "latest", "release-key.pub"]);
  });

  test.each([
    ["1.0.0", "1.0.0"],
    ["1.10.0", "1.10.0"],
    ["1.9.0", "1.10.0"],
    ["1.10.0-rc.1", "1.10.0"],
    ["2.0.0-rc.1", "2.0.0-rc.1"],
  ])("after %s the latest is %s", (version, latest) => {
    publish(version, "one");
    expect(read("releases/latest")).toBe(`${latest}\n`);
  });
});

describe("the bill of materials", () => {
  const lock = (packages: object) => ({
    workspaces: { "": { dependencies: { a: "1" }, devDependencies: { tool: "1" } } },
    packages,
  });
  const entry = (identity: string, dependencies: object = {}) => [
    identity,
    "",
    { dependencies },
    "sha512-AAAA",
  ];

  test("follows the dependencies of programs, each to the version that it uses", () => {
    const packages = {
      a: entry("a@1.0.0", { b: "1", "@s/c": "1" }),
      b: entry("b@1.0.0", { d: "1" }),
      "@s/c": entry("@s/c@1.0.0", { b: "2", d: "1" }),
      "@s/c/b": entry("b@2.0.0", { d: "2" }),
      "@s/c/b/d": entry("d@2.0.0", { a: "1" }),
      d: entry("d@1.0.0"),
      tool: entry("tool@1.0.0", { e: "1" }),
      e: entry("e@1.0.0"),
    };
    const found = lockedPackages(lock(packages));
    expect(found.direct).toEqual(["a"]);
    expect(found.packages.map(({ key, version, uses }) => [key, version, uses])).toEqual([
      ["@s/c", "1.0.0", ["@s/c/b", "d"]],
      ["@s/c/b", "2.0.0", ["@s/c/b/d"]],
      ["@s/c/b/d", "2.0.0", ["a"]],
      ["a", "1.0.0", ["@s/c", "b"]],
      ["b", "1.0.0", ["d"]],
      ["d", "1.0.0", []],
    ]);
  });

  test.each([
    ["a missing package", {}],
    ["a package without a checksum", { a: ["a@1.0.0", "", {}] }],
    ["a package of a folder", { a: entry("a@workspace:a") }],
    ["a missing dependency", { a: entry("a@1.0.0", { b: "1" }) }],
  ])("%s is an error", (_what, packages) => {
    expect(() => lockedPackages(lock(packages))).toThrow("bun.lock has no package");
  });

  test("of this checkout is complete, and always the same", () => {
    const text = sbomOf(ROOT);
    expect(sbomOf(ROOT)).toBe(text);
    const { specVersion, metadata, components, dependencies } = JSON.parse(text);
    expect([specVersion, metadata.component.name, metadata.timestamp]).toEqual(["1.6", "svc", undefined]);
    const purls: string[] = components.map(({ purl }: { purl: string }) => purl);
    expect(purls).toContain(`pkg:npm/%40oven/bun-linux-x64-musl@${Bun.version}`);
    expect(purls.some((purl) => purl.startsWith("pkg:npm/elysia@"))).toBe(true);
    expect(purls.some((purl) => purl.startsWith("pkg:npm/knip@"))).toBe(false);
    expect(new Set(purls).size).toBe(purls.length);
    for (const each of components) expect(each.hashes[0].content).toMatch(/^[0-9a-f]{128}$/);
    const known = new Set([metadata.component["bom-ref"], ...purls]);
    for (const each of dependencies) for (const used of each.dependsOn ?? []) expect(known).toContain(used);
  });
});

describe("the arguments", () => {
  test("choose all programs and platforms, or some", () => {
    const { platforms = [], programs = [] } = readReleaseArguments([]) ?? {};
    expect(targetsOf(programs, platforms)).toHaveLength(13);
    const some = readReleaseArguments(["--only", "windows-x64", "--only=linux-arm64", "--program", "svc"]);
    expect(targetsOf(some?.programs ?? [], some?.platforms ?? [])).toEqual([
      { program: "svc", platform: "linux-arm64" },
      { program: "svc", platform: "windows-x64" },
    ]);
    expect(targetsOf(["svc-api"], PLATFORMS).map(({ platform }) => platform)).toEqual([
      "linux-x64",
      "linux-arm64",
    ]);
    expect(readReleaseArguments(["--help"])).toBeNull();
  });

  test.each([
    [["--only", "plan9"], "--only must be one of linux-x64"],
    [["--program", "svc-entrypoint"], "--program must be one of svc"],
    [["--bogus"], "--bogus"],
    [["extra"], "extra"],
  ])("%p is refused", (argv, message) => expect(() => readReleaseArguments(argv)).toThrow(message));
});
