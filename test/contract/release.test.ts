import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import {
  ARCHIVE_BYTES_MAX,
  archiveName,
  compareVersions,
  filesInArchive,
  formatSums,
  isPublicKey,
  isReleaseFileName,
  isVersion,
  KEY_FILE,
  LATEST_FILE,
  PROGRAM_PLATFORMS,
  parseSums,
  platformOf,
  RELEASE_PUBLIC_KEY,
  readSignedSums,
  SBOM_FILE,
  SIGNATURE_FILE,
  SUMS_BYTES_MAX,
  SUMS_FILE,
} from "../../src/contract/release.ts";
import { fc } from "../helpers/property.ts";

const A = "a".repeat(64);
const B = "0123456789abcdef".repeat(4);

describe("names", () => {
  test("an archive is named after program, version and platform", () => {
    expect(archiveName("svc", "1.2.3", "linux-x64-musl")).toBe("svc-1.2.3-linux-x64-musl.tar.xz");
    expect(archiveName("svc-api", "1.2.3-rc.1", "linux-arm64")).toBe("svc-api-1.2.3-rc.1-linux-arm64.tar.xz");
    for (const platform of PROGRAM_PLATFORMS.svc)
      expect(isReleaseFileName(archiveName("svc-agent", "1.2.3", platform))).toBe(true);
    for (const name of [SUMS_FILE, SIGNATURE_FILE, SBOM_FILE, LATEST_FILE, KEY_FILE])
      expect(isReleaseFileName(name)).toBe(true);
    expect(SUMS_BYTES_MAX).toBeLessThan(ARCHIVE_BYTES_MAX.svc);
    // svc-api's archive has 50 MB, with the embedded database
    expect(ARCHIVE_BYTES_MAX).toEqual({ svc: 45_000_000, "svc-agent": 45_000_000, "svc-api": 65_000_000 });
  });

  test.each([
    ["svc", "linux-x64", ["svc", "LICENSE"]],
    ["svc", "windows-x64", ["svc.exe", "LICENSE"]],
    ["svc-api", "linux-arm64", ["svc-api", "LICENSE"]],
    ["svc-agent", "linux-x64-musl", ["svc-agent", "svc-entrypoint", "LICENSE"]],
  ] as const)("the archive of %s for %s holds its files at the top", (program, platform, files) => {
    expect(filesInArchive(program, platform)).toEqual([...files]);
  });

  test.each([
    ["linux", "x64", false, "linux-x64"],
    ["linux", "x64", true, "linux-x64-musl"],
    ["linux", "arm64", true, "linux-arm64-musl"],
    ["darwin", "arm64", false, "macos-arm64"],
    ["darwin", "x64", true, "macos-x64"],
    ["win32", "x64", false, "windows-x64"],
    ["win32", "arm64", false, null],
    ["linux", "riscv64", false, null],
    ["freebsd", "x64", false, null],
    ["constructor", "x64", false, null],
  ] as const)("%s %s (musl: %p) is the platform %p", (system, processor, isMusl, platform) => {
    expect(platformOf(system, processor, isMusl)).toBe(platform);
  });

  test.each(["", ".", "..", ".hidden", "-rf", "a/b", "a\\b", "a b", "a\nb", "ä", "a\0", "x".repeat(129)])(
    "%p names no file of a release",
    (name) => expect(isReleaseFileName(name)).toBe(false),
  );
});

describe("versions", () => {
  test.each(["0.0.0", "1.2.3", "10.20.30", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x-y.z"])(
    "%s is a version",
    (text) => expect(isVersion(text)).toBe(true),
  );

  test.each([
    ...[
      "",
      "1",
      "1.2",
      "1.2.3.4",
      "v1.2.3",
      "01.2.3",
      "1.02.3",
      "1.2.3-",
      "1.2.3-01",
      "1.2.3-a..b",
      "1.2.3+build",
    ],
    ...["1.2.3 ", " 1.2.3", "1.2.3\n", "../1.2.3", "1.2.3/..", "1.2.-3", "latest", "1234567890.0.0"],
    `1.0.0-${"a".repeat(64)}`,
  ])("%p is none", (text) => {
    expect(isVersion(text)).toBe(false);
    expect(() => compareVersions(text, "1.0.0")).toThrow("is not a version");
    expect(() => compareVersions("1.0.0", text)).toThrow("is not a version");
  });

  test("versions have the order of semver", () => {
    // from semver.org, 11
    const inOrder = [
      ...["0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2"],
      ...["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0", "1.9.0", "1.10.0", "2.0.0"],
    ];
    for (const [i, a] of inOrder.entries())
      for (const [j, b] of inOrder.entries())
        expect(Math.sign(compareVersions(a, b)), `${a} and ${b}`).toBe(Math.sign(i - j));
  });

  test("and that of another implementation", () => {
    const identifier = fc.constantFrom("0", "1", "2", "10", "11", "a", "b", "A", "a-b", "-", "1a", "beta");
    const version = fc
      .tuple(fc.nat(2), fc.nat(11), fc.nat(2), fc.array(identifier, { maxLength: 3 }))
      .map(([x, y, z, rest]) => `${x}.${y}.${z}${rest.length > 0 ? `-${rest.join(".")}` : ""}`);
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(Bun.semver.order(a, b));
      }),
    );
  });
});

describe("SHA256SUMS", () => {
  test("is sorted, in the format of sha256sum, and is read back", () => {
    const sums = new Map([
      ["svc-2", B],
      ["svc-1", A],
      ["SVC", A],
    ]);
    const text = formatSums(sums);
    expect(text).toBe(`${A}  SVC\n${A}  svc-1\n${B}  svc-2\n`);
    expect([...parseSums(text)].sort()).toEqual([...sums].sort());
  });

  test.each([
    ["nothing", ""],
    ["an empty line", "\n"],
    ["an empty line at the end", `${A}  a\n\n`],
    ["no final newline", `${A}  a`],
    ["one space", `${A} a\n`],
    ["the mark of binary mode", `${A} *a\n`],
    ["upper-case digits", `${A.toUpperCase()}  a\n`],
    ["a short digest", `${A.slice(1)}  a\n`],
    ["a long digest", `${A}0  a\n`],
    ["a path", `${A}  a/b\n`],
    ["a parent", `${A}  ..\n`],
    ["an absolute path", `${A}  /etc/passwd\n`],
    ["a carriage return", `${A}  a\r\n`],
    ["an escaped name", `\\${A}  a\n`],
    ["a comment", `# sums\n${A}  a\n`],
    ["a name twice", `${A}  a\n${B}  a\n`],
    ["too many lines", Array.from({ length: 600 }, (_, i) => `${A}  f${i}\n`).join("")],
    ["too many bytes", `${A}  ${"a".repeat(SUMS_BYTES_MAX)}\n`],
  ])("is refused with %s", (_what, text) => {
    expect(() => parseSums(text)).toThrow("SHA256SUMS");
  });
});

describe("the signature", () => {
  const pair = () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    return { privateKey, pem: publicKey.export({ type: "spki", format: "pem" }).toString() };
  };
  const { privateKey, pem } = pair();
  const bytes = new TextEncoder().encode(`${A}  svc\n`);
  const signature = sign(null, bytes, privateKey).toString("base64");
  const flipped = (text: string) => (text[0] === "A" ? "B" : "A") + text.slice(1);
  const [, encoded = ""] = pem.split("\n");

  test("by the trusted key lets the sums be read", async () => {
    expect(await readSignedSums(bytes, `${signature}\n`, pem)).toEqual(new Map([["svc", A]]));
    expect(await readSignedSums(bytes, signature, pem.replaceAll("\n", "\r\n"))).toEqual(
      new Map([["svc", A]]),
    );
  });

  test.each([
    ["another key", bytes, signature, pair().pem, "not by the trusted key"],
    ["another file", new TextEncoder().encode(`${B}  svc\n`), signature, pem, "not by the trusted key"],
    ["a changed signature", bytes, flipped(signature), pem, "not by the trusted key"],
    ["an empty signature", bytes, "", pem, "not a signature"],
    ["a short signature", bytes, signature.slice(4), pem, "not a signature"],
    ["two signatures", bytes, `${signature}\n${signature}\n`, pem, "not a signature"],
    ["no key", bytes, signature, "", "not an Ed25519 public key"],
    ["a key without its frame", bytes, signature, encoded, "not an Ed25519 public key"],
    ["a key of another kind", bytes, signature, pem.replace("MCow", "MCox"), "not an Ed25519 public key"],
    ["a large file", new Uint8Array(SUMS_BYTES_MAX + 1), signature, pem, "too large"],
  ])("is refused with %s", async (_what, file, text, key, message) => {
    await expect(readSignedSums(file, text, key)).rejects.toThrow(message);
  });

  test("signed sums are read as strictly as others", async () => {
    const file = new TextEncoder().encode(`${A}  ../svc\n`);
    const signed = sign(null, file, privateKey).toString("base64");
    await expect(readSignedSums(file, signed, pem)).rejects.toThrow("Line 1 of SHA256SUMS");
  });

  test("a key is recognized", () => {
    expect(isPublicKey(pem)).toBe(true);
    expect(isPublicKey(pem.replace("PUBLIC", "PRIVATE"))).toBe(false);
  });

  test("a build from source trusts no key", () => expect(RELEASE_PUBLIC_KEY).toBeNull());
});
