import { createPublicKey } from "node:crypto";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";

/** A file of a release. */
export interface ReleaseFile {
  path: string;
  bytes: number;
  /** With its quotes. */
  etag: string;
}

export interface Releases {
  /** The newest version; null without a release. */
  latest(): Promise<string | null>;
  /** The public key of the releases in base64, the one line of its PEM; null if there is none that is Ed25519. */
  publicKey(): Promise<string | null>;
  /** A regular file in the folder of a version, by names from a request; null for anything else. */
  find(version: string, name: string): Promise<ReleaseFile | null>;
}

const VERSION = /^\d[0-9A-Za-z.+-]{0,63}$/;
/** No slash and no leading dot, so that no name leaves the folder. */
const NAME = /^[0-9A-Za-z][\w.+-]{0,127}$/;
/** `latest` is one line, a public key three. */
const TEXT_MAX_BYTES = 4096;

/** The releases in a folder, which may appear and change while the server runs. @param folder null: none */
export function openReleases(folder: string | null): Releases {
  if (folder === null) return { latest: none, publicKey: none, find: none };
  return {
    async latest() {
      const version = (await readText(join(folder, "latest")))?.trim() ?? "";
      return VERSION.test(version) ? version : null;
    },
    async publicKey() {
      const pem = await readText(join(folder, "release-key.pub"));
      return pem === null ? null : ed25519Line(pem);
    },
    find: async (version, name) =>
      VERSION.test(version) && NAME.test(name) ? findFile(join(folder, version, name)) : null,
  };
}

const none = async () => null;

async function readText(path: string): Promise<string | null> {
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(TEXT_MAX_BYTES), 0, TEXT_MAX_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

function ed25519Line(pem: string): string | null {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== "ed25519") return null;
    return key.export({ type: "spki", format: "der" }).toString("base64");
  } catch {
    return null;
  }
}

/** Symbolic links are not followed: a release is what its folder holds. */
async function findFile(path: string): Promise<ReleaseFile | null> {
  const found = await lstat(path).catch(() => null);
  if (!found?.isFile()) return null;
  return {
    path,
    bytes: found.size,
    etag: `"${found.size.toString(36)}-${Math.trunc(found.mtimeMs).toString(36)}"`,
  };
}
