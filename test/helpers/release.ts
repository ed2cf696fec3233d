import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { storeAsXz } from "../../scripts/release/xz-stored.ts";

/** The key of a test's releases. */
export interface ReleaseKey {
  privateKey: KeyObject;
  /** Base64 of the DER: the line of its PEM. */
  line: string;
  pem: string;
}

export function makeReleaseKey(): ReleaseKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const line = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  return { privateKey, line, pem: publicKey.export({ type: "spki", format: "pem" }).toString() };
}

/** This machine's platform, as archives name it. */
export const PLATFORM = `${process.platform === "darwin" ? "macos" : "linux"}-${process.arch}`;

export const archiveOf = (version: string, platform = PLATFORM): string =>
  `svc-${version}-${platform}.tar.xz`;

interface ReleaseOptions {
  version: string;
  key: ReleaseKey;
  /** The program: a shell script, or the path of a binary. */
  program?: string | { path: string };
  platforms?: readonly string[];
  /** Whether `latest` names it. */
  latest?: boolean;
}

/** A program that prints its version, as svc does. */
export function fakeSvc(version: string): string {
  return `#!/bin/sh\ncase "$*" in\nversion) echo ${version} ;;\n"version --json") echo '{"version": "${version}"}' ;;\nesac\n`;
}

/** Adds a version to a folder of releases (docs/install.md: A release). */
export function makeRelease(releases: string, options: ReleaseOptions): string {
  const { version, key, program = fakeSvc(version), platforms = [PLATFORM], latest = true } = options;
  const folder = join(releases, version);
  const packed = join(folder, "packed");
  mkdirSync(packed, { recursive: true });
  if (typeof program === "string") writeFileSync(join(packed, "svc"), program);
  else copyFileSync(program.path, join(packed, "svc"));
  chmodSync(join(packed, "svc"), 0o755);
  writeFileSync(join(packed, "LICENSE"), "Apache-2.0\n");
  for (const platform of platforms) {
    const archive = join(folder, archiveOf(version, platform));
    // stored without compression: no program of this machine is needed, and it takes no time
    const { success, stdout, stderr } = Bun.spawnSync(["tar", "-C", packed, "-cf", "-", "svc", "LICENSE"]);
    if (!success) throw new Error(stderr.toString());
    writeFileSync(archive, storeAsXz(stdout));
  }
  rmSync(packed, { recursive: true });
  signRelease(folder, key);
  writeFileSync(join(releases, "release-key.pub"), key.pem);
  if (latest) writeFileSync(join(releases, "latest"), `${version}\n`);
  return folder;
}

/** Writes the sums of a folder's archives, or `sums`, and their signature. */
export function signRelease(folder: string, key: ReleaseKey, sums = sumsOf(folder)): void {
  writeFileSync(join(folder, "SHA256SUMS"), sums);
  writeFileSync(
    join(folder, "SHA256SUMS.sig"),
    `${sign(null, Buffer.from(sums), key.privateKey).toString("base64")}\n`,
  );
}

function sumsOf(folder: string): string {
  const names = readdirSync(folder)
    .filter((name) => name.startsWith("svc-"))
    .sort();
  return names
    .map(
      (name) =>
        `${createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")}  ${name}\n`,
    )
    .join("");
}

/** Answers of the server that replace a file of the releases, by the end of the path. */
export type Faults = Record<string, (request: Request) => Response>;

/** Serves a folder of releases, as a server of svc does. */
export function serveReleases(releases: string, faults: Faults = {}) {
  const requests: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push(pathname);
      for (const [end, answer] of Object.entries(faults)) if (pathname.endsWith(end)) return answer(request);
      const file = Bun.file(join(releases, pathname.replace(/^\/releases\//, "")));
      if (!pathname.startsWith("/releases/") || !(await file.exists()))
        return new Response("Not found\n", { status: 404 });
      return new Response(file);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, faults, requests, stop: () => server.stop(true) };
}
