import { Readable } from "node:stream";
import type { Container } from "dockerode";
import { type Pack, pack } from "tar-stream";
import { SandboxError } from "../../provider.ts";
import { entriesOf, streamOf, textOf, writeEntry } from "../../tar.ts";
import { type Engine, EngineError } from "../engine.ts";
import { LABEL, type Labels } from "../names.ts";
import { removeContainer } from "../run-to-end.ts";
import type { Binaries, Libc, PluginFile } from "./binaries.ts";
import { addUser, type User } from "./user.ts";

/** The label of an image with the user that the agent runs as, `uid:gid`. */
export const USER_LABEL = "svc.user";

/** Half a gigabyte is copied and written as a layer. */
const COPY_MS = 5 * 60_000;
const PASSWD_MAX_BYTES = 1024 * 1024;

/** The paths of git in images. */
const GIT = ["/usr/bin/git", "/usr/local/bin/git", "/bin/git", "/opt/bin/git"];

/**
 * Adds svc's programs, the agent runtime, the workspace and an unprivileged user to an image. Nothing in the image runs:
 * the engine reads and writes its files, so any image with git can be used.
 * @throws SandboxError when the image cannot be used; the signal's reason
 */
export async function addLayers(
  engine: Engine,
  { base, tag, binaries, labels }: { base: string; tag: string; binaries: Binaries; labels: Labels },
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const container = await engine.call("open an image", (docker, abortSignal) =>
    docker.createContainer({
      Image: base,
      User: "0:0",
      WorkingDir: "/",
      Entrypoint: ["/usr/local/bin/svc-entrypoint"],
      Cmd: [],
      Healthcheck: { Test: ["NONE"] },
      StopSignal: "SIGTERM",
      Labels: { ...labels, [LABEL.role]: "scratch", [LABEL.session]: "" },
      HostConfig: { NetworkMode: "none" },
      abortSignal,
    }),
  );
  try {
    const files = filesOf(engine, container);
    await requireGit(files);
    const libc = await libcOf(files);
    const programs = await binaries.of(libc);
    const plugins = await binaries.plugins();
    const user = addUser(await files.read("/etc/passwd"), await files.read("/etc/group"));
    log(`adding ${programs.map(({ target }) => target.split("/").at(-1)).join(", ")} (${libc})`);
    const layer = pack();
    const limits = { ms: COPY_MS, signal };
    const writing = write(layer, programs, plugins, user).catch((error: Error) => layer.destroy(error));
    await engine.call(
      "add svc to an image",
      (_, abortSignal) => container.putArchive(streamOf(layer), { path: "/", abortSignal }),
      limits,
    );
    await writing;
    const [repo = "", version = ""] = tag.split(":");
    const changes = [`LABEL ${LABEL.image}=sandbox ${USER_LABEL}=${user.uid}:${user.gid}`];
    await engine.call(
      "commit an image",
      (_, abortSignal) => container.commit({ repo, tag: version, changes, abortSignal }),
      limits,
    );
  } finally {
    await removeContainer(engine, container.id);
  }
}

interface Files {
  has(path: string): Promise<boolean>;
  /** The text of a small file; empty when there is none. */
  read(path: string): Promise<string>;
}

function filesOf(engine: Engine, container: Container): Files {
  return {
    async has(path) {
      try {
        await engine.call("read a file of an image", (_, abortSignal) =>
          container.infoArchive({ path, abortSignal }),
        );
        return true;
      } catch (error) {
        if (error instanceof EngineError && error.status === 404) return false;
        throw error;
      }
    },
    async read(path) {
      try {
        return await engine.call("read a file of an image", async (_, abortSignal) =>
          firstFileOf(await container.getArchive({ path, abortSignal })),
        );
      } catch (error) {
        if (error instanceof EngineError && error.status === 404) return "";
        throw error;
      }
    },
  };
}

async function firstFileOf(archive: NodeJS.ReadableStream): Promise<string> {
  for await (const { header, pieces } of entriesOf(Readable.from(archive))) {
    return header.type === "file" ? ((await textOf(pieces, PASSWD_MAX_BYTES)) ?? "") : "";
  }
  return "";
}

async function requireGit(files: Files): Promise<void> {
  const found = await Promise.all(GIT.map((path) => files.has(path)));
  if (found.includes(true)) return;
  throw new SandboxError(
    "The project's image has no git, which a sandbox needs to clone the repository. Install git in its Dockerfile.",
    { permanent: true },
  );
}

const MUSL = ["/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"];
const GLIBC = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];

async function libcOf(files: Files): Promise<Libc> {
  const has = async (paths: readonly string[]) => (await Promise.all(paths.map(files.has))).includes(true);
  if (await has(GLIBC)) return "glibc";
  if (!(await has(MUSL))) {
    throw new SandboxError(
      "The project's image has neither glibc nor musl, so svc's programs cannot run in it. Base its Dockerfile on another image, such as Debian.",
      { permanent: true },
    );
  }
  if (!(await has(["/usr/lib/libstdc++.so.6"]))) {
    throw new SandboxError(
      "The project's image has no libstdc++, which svc's programs need. Install it in its Dockerfile: apk add libstdc++.",
      { permanent: true },
    );
  }
  return "musl";
}

async function write(
  layer: Pack,
  programs: Awaited<ReturnType<Binaries["of"]>>,
  plugins: readonly PluginFile[],
  { uid, gid, passwd, group }: User,
): Promise<void> {
  for (const { target: name, sameAs, bytes, read } of programs) {
    if (sameAs !== null) layer.entry({ name, type: "link", linkname: sameAs, mode: 0o755 });
    else await writeEntry(layer, { name, mode: 0o755, size: bytes }, read());
  }
  for (const [name, text] of [
    ["etc/passwd", passwd],
    ["etc/group", group],
  ] as const) {
    if (text !== null) layer.entry({ name, mode: 0o644 }, text);
  }
  layer.entry({ name: "opt/svc/", type: "directory", mode: 0o755 });
  for (const { target: name, read } of plugins) {
    const { promise: written, resolve, reject } = Promise.withResolvers<void>();
    layer.entry({ name, mode: 0o644 }, await read(), (error) => (error ? reject(error) : resolve()));
    await written;
  }
  for (const name of ["opt/svc/home/", "workspace/"]) {
    layer.entry({ name, type: "directory", mode: 0o755, uid, gid });
  }
  layer.finalize();
}
