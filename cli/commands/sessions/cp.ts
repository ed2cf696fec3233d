import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, posix, resolve } from "node:path";
import type { StartedExec } from "../../../src/contract/exec.ts";
import type { ExecExit } from "../../../src/conversation/exec.ts";
import type { Context } from "../../context.ts";
import { attach } from "../../exec/attach.ts";
import { packPath } from "../../exec/pack.ts";
import { type Copied, unpack } from "../../exec/unpack.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-exec.ts";
import { count, oneLine, sizeText } from "../../text.ts";
import { type Found, findSession } from "./reference.ts";

export const cp: Handler<typeof table.cp> = async (context, { args }) => {
  const [from, to] = [remoteOf(args.from), remoteOf(args.to)];
  if ((from === null) === (to === null))
    throw usage("One of the two must be in a sandbox: <id>:<path>", "svc sessions cp 1a2b:dist ./dist");
  const copied: Copied = { files: 0, bytes: 0, omitted: [] };
  const copying = { context, copied };
  if (from) await download({ ...copying, found: await findSession(context, from.id) }, from.path, args.to);
  else if (to) await upload({ ...copying, found: await findSession(context, to.id) }, args.from, to.path);
  await context.out.note(`Copied ${count(copied.files, "file")}, ${sizeText(copied.bytes)}.`);
  for (const path of copied.omitted) await context.out.warn(`Left out: ${oneLine(path)}`);
};

/** `<id>:<path>`; null: a path on this machine. */
function remoteOf(text: string): { id: string; path: string } | null {
  const [, id, path] = /^([0-9a-f][0-9a-f-]{3,35}):(.*)$/is.exec(text) ?? [];
  return id === undefined || path === undefined ? null : { id, path: path === "" ? "." : path };
}

interface Copying {
  context: Context;
  found: Found;
  copied: Copied;
}

async function download(copying: Copying, path: string, to: string): Promise<void> {
  const { context, copied } = copying;
  const name = posix.basename(posix.normalize(path));
  const isWhole = name === "." || name === ".." || name === "/";
  const wanted = resolve(context.system.cwd, to);
  const target = isWhole || !(await isFolder(wanted)) ? wanted : join(wanted, name);
  if (await isFolder(target)) throw new CliError("file", `${oneLine(target)} exists. Copy to another name.`);
  // beside the destination, so that it appears at once and whole
  const staging = join(dirname(target), `.svc-${randomUUID()}`);
  try {
    await mkdir(staging);
    const pipe = new TransformStream<Uint8Array, Uint8Array>();
    const writer = pipe.writable.getWriter();
    const unpacking = unpack(pipe.readable, staging, copied, isWhole ? null : name);
    unpacking.catch((error: unknown) => writer.abort(error));
    const exit = await run(copying, ["sh", "-c", TAKE, "sh", path], null, (piece) =>
      writer.write(piece),
    ).finally(() => writer.close().catch(() => {}));
    requireDone(exit, `${oneLine(path)} cannot be read in the sandbox.`);
    await unpacking;
    await rename(isWhole ? staging : join(staging, name), target);
  } catch (error) {
    throw readable(error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function upload(copying: Copying, from: string, path: string): Promise<void> {
  const { context, copied } = copying;
  const source = resolve(context.system.cwd, from);
  const found = await stat(source).catch((error: unknown) => Promise.reject(readable(error)));
  if (!found.isFile() && !found.isDirectory())
    throw new CliError("file", `${oneLine(from)} is neither a file nor a folder.`);
  const exists = await run(copying, ["test", "-d", path], null, async () => {});
  const isInto = exists.code === 0 || path.endsWith("/");
  const folder = isInto ? path : posix.dirname(path);
  const name = isInto ? basename(source) : posix.basename(path);
  const tar = packPath(source, name, copied);
  const exit = await run(copying, ["sh", "-c", PUT, "sh", folder], tar, async () => {});
  requireDone(exit, `${oneLine(path)} cannot be written in the sandbox.`);
}

/** Options of tar that also BusyBox has. */
const TAKE = 'cd -- "$(dirname -- "$1")" && exec tar -cf - -- "$(basename -- "$1")"';
const PUT = 'mkdir -p -- "$1" && cd -- "$1" && exec tar -xf -';

async function run(
  { context, found: { api, path } }: Copying,
  command: string[],
  stdin: AsyncIterable<Uint8Array> | null,
  stdout: (bytes: Uint8Array) => Promise<void>,
): Promise<ExecExit> {
  const started = await api.call<StartedExec>({ path: `${path}/exec`, body: { command } });
  const { stderr } = context.system;
  const onClient = stdin === null ? { onClient: (client: { endInput(): void }) => client.endInput() } : {};
  return await attach(api, started, {
    ...{ stdin, stdout, ...onClient },
    stderr: (bytes) => stderr.write(oneLineEach(bytes)),
    note: (text) => void context.out.note(text),
  });
}

/** The sandbox's messages, without what a terminal would act on. */
function oneLineEach(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString().split("\n").map(oneLine).join("\n");
}

function requireDone({ code }: ExecExit, sentence: string): void {
  if (code !== 0) throw new CliError("file", sentence);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

function readable(error: unknown): unknown {
  const code = systemCode(error);
  if (error instanceof CliError || code === undefined) return error;
  return new CliError("file", `The files cannot be copied (${code}).`);
}
