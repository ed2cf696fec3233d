import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Readable } from "node:stream";
import { RUNTIME_VERSION } from "../../../contract/runtime.ts";
import type { ProviderOptions } from "../../provider.ts";
import { SandboxError } from "../../provider.ts";
import { findPlugins, findRuntime } from "../../runtime/find.ts";

/** The C library of an image: a program built for one does not run with the other. */
export type Libc = "glibc" | "musl";

/** The programs that svc puts into an image. */
export interface Binaries {
  /** Changes whenever one of them does. */
  digest(): Promise<string>;
  /** @throws SandboxError when there are none for this library */
  of(libc: Libc): Promise<Program[]>;
  /** The packages that projects' tools and plugins import; empty if they are not installed. */
  plugins(): Promise<PluginFile[]>;
}

/** A file of the packages. */
export interface PluginFile {
  target: string;
  read(): Promise<Buffer>;
}

interface Program {
  /** Its path in the image. */
  target: string;
  /** The path of an identical file in the image, to link to. */
  sameAs: string | null;
  bytes: number;
  read(): Readable;
}

const FOLDER = "usr/local/bin";
/** The path that the daemon expects (daemon/settings.ts). */
const PLUGINS = "opt/svc/plugins";
const OWN = ["svc-agent", "svc-entrypoint", "svc"] as const;
const SUFFIX = { glibc: "", musl: "-musl" } as const;

export function createBinaries(options: ProviderOptions): Binaries {
  const { binaries } = options;
  const digests = new Map<string, Promise<string>>();

  return {
    async digest() {
      const paths = [
        ...Object.values(SUFFIX).flatMap((suffix) => OWN.map((name) => pathOf(name, suffix))),
        runtimeOf(options),
      ];
      const digests = await Promise.all(paths.map((path) => path && digestOf(path)));
      return JSON.stringify([...digests, findPlugins(options) !== null && RUNTIME_VERSION]);
    },
    async of(libc) {
      const own = await Promise.all(OWN.map((name) => programOf(name, pathOf(name, SUFFIX[libc]))));
      const missing = OWN.filter((_, index) => own[index] === null);
      if (missing.length > 0) {
        throw new SandboxError(
          `This build of svc has no ${missing.join(", ")} for images with ${libc}${libc === "musl" ? ", such as Alpine. Use another image, such as Debian" : ""}.`,
          { permanent: true },
        );
      }
      const runtime = runtimeOf(options);
      const agent = runtime && libc === "glibc" ? await programOf("opencode", runtime) : null;
      return linked([...own, agent].filter((program) => program !== null));
    },
    async plugins() {
      const folder = findPlugins(options);
      if (folder === null) return [];
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => ({
          target: `${PLUGINS}/${relative(folder, path)}`,
          read: () => readFile(path),
        }));
    },
  };

  function pathOf(name: string, suffix: string): string {
    return join(binaries, `${name}${suffix}`);
  }

  /** Cached by the file's path, size and time. */
  async function digestOf(path: string): Promise<string> {
    const file = await stat(path).catch(() => null);
    if (!file?.isFile()) return "";
    const key = [path, file.size, file.mtimeMs, file.ino].join("\0");
    const digest = digests.get(key) ?? hashFile(path);
    digests.set(key, digest);
    digest.catch(() => digests.delete(key));
    return digest;
  }
}

async function hashFile(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex");
}

/**
 * This machine's agent runtime, a program for glibc; null: the image must have one.
 * @throws SandboxError when SVC_RUNTIME_BIN is not a program
 */
function runtimeOf(options: ProviderOptions): string | null {
  if (options.runtime !== null) return findRuntime(options);
  try {
    return findRuntime(options);
  } catch {
    return null;
  }
}

interface FoundProgram extends Program {
  inode: string;
}

/** Null also for a script, whose interpreter the image may lack. */
async function programOf(name: string, path: string): Promise<FoundProgram | null> {
  const file = await stat(path).catch(() => null);
  if (!file?.isFile() || !(await isElf(path))) return null;
  return {
    target: `${FOLDER}/${name}`,
    sameAs: null,
    bytes: file.size,
    read: () => createReadStream(path, { end: file.size - 1 }),
    inode: `${file.dev}:${file.ino}`,
  };
}

/** Links identical files: svc-agent and svc-entrypoint are one file of a hundred megabytes. */
function linked(programs: readonly FoundProgram[]): Program[] {
  return programs.map((program, index) => {
    const first = programs.findIndex(({ inode }) => inode === program.inode);
    return first < index ? { ...program, sameAs: programs[first]?.target ?? null } : program;
  });
}

async function isElf(path: string): Promise<boolean> {
  const start = await Bun.file(path).slice(0, 4).bytes();
  return Buffer.from(start).equals(Buffer.from("\x7fELF", "latin1"));
}
