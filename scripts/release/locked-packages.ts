import { ReleaseBuildError } from "./failure.ts";

/** A package of bun.lock. */
export interface LockedPackage {
  name: string;
  version: string;
  /** SHA-512 of its tarball, in hexadecimal. */
  sha512: string;
  /** Its place in the lockfile, which is also that in `node_modules`: `a`, or `b/a` if only `b` uses this version. */
  key: string;
  /** The keys of the packages that it uses. */
  uses: string[];
}

const LOCKED = /^(@?[^@]+)@(\d[^@]*)$/;
const INTEGRITY = /^sha512-([A-Za-z0-9+/]+=*)$/;

/**
 * The packages that a program may contain: the dependencies of the workspace, without those for development, and theirs.
 * @param lockfile the parsed bun.lock
 * @returns the direct dependencies' keys, and all packages sorted by key
 * @throws ReleaseBuildError
 */
export function lockedPackages(lockfile: unknown): { direct: string[]; packages: LockedPackage[] } {
  const entries = objectOf(objectOf(lockfile)["packages"]);
  const workspace = objectOf(objectOf(objectOf(lockfile)["workspaces"])[""]);
  const direct = Object.keys(objectOf(workspace["dependencies"])).sort();
  const packages = new Map<string, LockedPackage>();
  const waiting = [...direct];
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (packages.has(key)) continue;
    const found = packageOf(key, entries);
    packages.set(key, found);
    waiting.push(...found.uses);
  }
  return { direct, packages: [...packages.values()].sort((a, b) => (a.key < b.key ? -1 : 1)) };
}

function packageOf(key: string, entries: Readonly<Record<string, unknown>>): LockedPackage {
  const entry = entries[key];
  const [identity, , details, integrity] = Array.isArray(entry) ? entry : [];
  const [, name, version] = LOCKED.exec(String(identity)) ?? [];
  const digest = INTEGRITY.exec(String(integrity))?.[1];
  if (name === undefined || version === undefined || digest === undefined)
    throw new ReleaseBuildError(`bun.lock has no package with version and checksum at "${key}".`);
  // not the optional ones: no program contains a native module of its packages
  const names = Object.keys(objectOf(objectOf(details)["dependencies"]));
  const uses = names.map((each) => keyOf(each, key, entries)).sort();
  return { name, version, sha512: Buffer.from(digest, "base64").toString("hex"), key, uses };
}

/** Looks a package up as node_modules does: inside of its user, then outwards. */
function keyOf(name: string, user: string, entries: Readonly<Record<string, unknown>>): string {
  for (let inside = `${user}/`; inside !== ""; inside = inside.replace(/(?:@[^/]+\/)?[^/]+\/$/, "")) {
    if (`${inside}${name}` in entries) return `${inside}${name}`;
  }
  return name;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
