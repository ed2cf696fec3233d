import type { Pack } from "tar-stream";
import { SandboxError } from "../../provider.ts";
import { writeEntry } from "../../tar.ts";
import type { Engine } from "../engine.ts";
import type { Labels } from "../names.ts";
import type { Binaries, ExtraFile, Libc } from "./binaries.ts";
import { addLayer, type Files } from "./layer.ts";
import { addUser, type User } from "./user.ts";

/** The label of an image with the user that the agent runs as, `uid:gid`. */
export const USER_LABEL = "svc.user";
/** The label of an image with its C library. */
export const LIBC_LABEL = "svc.libc";

/** The paths of git in images. */
const GIT = ["/usr/bin/git", "/usr/local/bin/git", "/bin/git", "/opt/bin/git"];

interface ImageNames {
  base: string;
  tag: string;
  labels: Labels;
}

/**
 * Adds svc's programs, opencode, the workspace and an unprivileged user to an image: any image with git can be used.
 * @throws SandboxError when the image cannot be used; the signal's reason
 */
export async function addPrograms(
  engine: Engine,
  image: ImageNames & { user: string | null },
  binaries: Binaries,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const make = async (files: Files) => {
    await requireGit(files);
    const libc = await libcOf(files);
    const programs = await binaries.of(libc);
    const plugins = await binaries.plugins();
    const user = addUser(await files.read("/etc/passwd"), await files.read("/etc/group"), image.user);
    log(`adding ${programs.map(({ target }) => target.split("/").at(-1)).join(", ")} (${libc})`);
    return {
      labels: { [USER_LABEL]: `${user.uid}:${user.gid}`, [LIBC_LABEL]: libc },
      write: (tar: Pack) => write(tar, programs, plugins, user),
    };
  };
  await addLayer(engine, image, make, signal);
}

/**
 * Adds an agent to an image that has svc's programs.
 * @throws SandboxError; the signal's reason
 */
export async function addAgent(
  engine: Engine,
  image: ImageNames,
  files: readonly ExtraFile[],
  signal: AbortSignal,
): Promise<void> {
  const make = async () => ({ labels: {}, write: (tar: Pack) => writeFiles(tar, files) });
  await addLayer(engine, image, make, signal);
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
  tar: Pack,
  programs: Awaited<ReturnType<Binaries["of"]>>,
  plugins: readonly ExtraFile[],
  { uid, gid, passwd, group }: User,
): Promise<void> {
  for (const { target: name, sameAs, bytes, read } of programs) {
    if (sameAs !== null) tar.entry({ name, type: "link", linkname: sameAs, mode: 0o755 });
    else await writeEntry(tar, { name, mode: 0o755, size: bytes }, read());
  }
  for (const [name, text] of [
    ["etc/passwd", passwd],
    ["etc/group", group],
  ] as const) {
    if (text !== null) tar.entry({ name, mode: 0o644 }, text);
  }
  tar.entry({ name: "opt/svc/", type: "directory", mode: 0o755 });
  await writeFiles(tar, plugins);
  for (const name of ["opt/svc/home/", "workspace/"]) {
    tar.entry({ name, type: "directory", mode: 0o755, uid, gid });
  }
}

async function writeFiles(tar: Pack, files: readonly ExtraFile[]): Promise<void> {
  for (const { target: name, mode, bytes, read } of files)
    await writeEntry(tar, { name, mode, size: bytes }, read());
}
