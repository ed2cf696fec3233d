import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { Readable } from "node:stream";
import { RUNTIME_VERSION } from "../../../contract/runtime.ts";
import type { ProviderOptions } from "../../provider.ts";
import { SandboxError } from "../../provider.ts";
import { findFilesFor, findPlugins, findRuntime } from "../../runtime/find.ts";

/** The C library of an image: a program built for one does not run with the other. */
export type Libc = "glibc" | "musl";

/** The programs that svc puts into an image. */
export interface Binaries {
  /** Changes whenever one of them does. */
  digest(): Promise<string>;
  /** @throws SandboxError when there are none for this library */
  of(libc: Libc): Promise<Program[]>;
  /** The packages that projects' tools and plugins import; empty if they are not installed. */
  plugins(): Promise<ExtraFile[]>;
  /** This machine's installation of an agent; null: the image must have it. */
  agent(name: string): Promise<InstalledAgent | null>;
}

/** A file to put into an image. */
export interface ExtraFile {
  /** Its path in the image. */
  target: string;
  mode: number;
  bytes: number;
  /** Its time of change, in milliseconds since 1970. */
  changedAt: number;
  read(): Readable;
}

interface InstalledAgent {
  /** Changes whenever a file does. */
  digest: string;
  /** The path of its program in the image. */
  program: string;
  files: ExtraFile[];
}

interface Program extends ExtraFile {
  /** The path of an identical file in the image, to link to. */
  sameAs: string | null;
}

const FOLDER = "usr/local/bin";
/** The path that the daemon expects (daemon/settings.ts). */
const PLUGINS = "opt/svc/plugins";
/** The folder of an agent other than opencode. */
const AGENT = "opt/svc/agent";
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
      return folder === null ? [] : await filesBelow(folder, PLUGINS);
    },
    async agent(name) {
      const found = unlessMissing(() => findFilesFor(options, name));
      if (found === null) return null;
      const files = await filesBelow(found.path, AGENT);
      return { digest: digestOfFiles(files), program: `/${AGENT}/${found.program}`, files };
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
  return options.runtime === null ? unlessMissing(() => findRuntime(options)) : findRuntime(options);
}

function unlessMissing<Found>(find: () => Found): Found | null {
  try {
    return find();
  } catch (error) {
    if (error instanceof SandboxError) return null;
    throw error;
  }
}

function digestOfFiles(files: readonly ExtraFile[]): string {
  const seen = files.map(({ target, mode, bytes, changedAt }) => [target, mode, bytes, changedAt]);
  return JSON.stringify(seen.toSorted());
}

/** The files of a folder, for a folder of an image. All users may read them. */
async function filesBelow(folder: string, target: string): Promise<ExtraFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(
    paths.map(async (path) => {
      const { mode, size, mtimeMs } = await stat(path);
      return {
        changedAt: mtimeMs,
        target: `${target}/${relative(folder, path)}`,
        mode: mode & 0o100 ? 0o755 : 0o644,
        bytes: size,
        read: () => pieces(path, size),
      };
    }),
  );
}

/** A file that grows meanwhile does not outgrow its entry; `end` of an empty file would be negative. */
function pieces(path: string, bytes: number): Readable {
  return bytes === 0 ? Readable.from([]) : createReadStream(path, { end: bytes - 1 });
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
    mode: 0o755,
    bytes: file.size,
    changedAt: file.mtimeMs,
    read: () => pieces(path, file.size),
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
