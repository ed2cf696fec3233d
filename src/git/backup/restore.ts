import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeMirror } from "../mirror/mirror.ts";
import { configOf, ORIGIN_FILE } from "../mirror/store.ts";
import { refFault } from "../refs.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import type { RepositoryCopy } from "./copy.ts";

/** As for packing. */
const UNPACK_MS = 6 * 3_600_000;
const REFS_MS = 10 * 60_000;
const HEAD = /^ref: (refs\/[^\0-\x20]+)\n$/;
const ORIGIN = /^[0-9a-f]{64}\n$/;

export type RestoredRepository = Pick<RepositoryCopy, "kind" | "id" | "format" | "head" | "origin">;

/**
 * Creates a repository from a backup. Git checks every object, and that each ref has all of its objects.
 * @param pack empty for a repository without commits
 * @throws SvcError merge_engine_failed, or Error when it is damaged
 */
export async function restoreRepository(
  engine: Engine,
  repository: RestoredRepository,
  refs: Uint8Array,
  pack: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { kind, id, format, head, origin } = repository;
  const branch = HEAD.exec(head)?.[1];
  if (branch === undefined || (refFault(branch) !== null && branch !== "refs/svc/none"))
    throw new Error("HEAD is not the name of a branch");
  if (kind === "mirrors" && (origin === null || !ORIGIN.test(origin)))
    throw new Error("the origin of a mirror is missing");
  const directory = join(engine.directories[kind], `${id}.git`);
  for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"])
    await mkdir(join(directory, part), { recursive: true, mode: 0o700 });
  await writeFile(join(directory, "HEAD"), head);
  await writeFile(join(directory, "config"), configOf(format));
  if (origin !== null && kind === "mirrors") await writeFile(join(directory, ORIGIN_FILE), origin);
  const { environment } = describeMirror(engine, id, directory, format, true);
  const iterator = pack[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (!first.done) await unpack(engine, environment, first.value, iterator);
  if (refs.length > 0) await createRefs(engine, environment, refs);
}

async function unpack(
  engine: Engine,
  environment: Record<string, string>,
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): Promise<void> {
  const result = await engine.runner.run({
    args: ["index-pack", "--stdin", "--threads=1"],
    environment,
    feed: async (write) => {
      for (let piece: Uint8Array | undefined = first; piece; ) {
        if (!(await write(piece))) return;
        const next: IteratorResult<Uint8Array> = await rest.next();
        piece = next.done ? undefined : next.value;
      }
    },
    deadlineMs: UNPACK_MS,
    outputBytes: 1024,
  });
  if (result.code !== 0) throw engineFailure(engine, "unpacking a repository", result);
}

/** One transaction, and then a check that everything the refs reach is there. */
async function createRefs(
  engine: Engine,
  environment: Record<string, string>,
  refs: Uint8Array,
): Promise<void> {
  const lines = Buffer.from(refs).toString("latin1").split("\n").filter(Boolean);
  const commands = lines.map((line) => {
    const [, object, name] = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/[^\0\n]+)$/.exec(line) ?? [];
    if (object === undefined || name === undefined) throw new Error("a line of its refs is damaged");
    return `create ${name}\0${object}\0`;
  });
  const created = await engine.runner.run({
    args: ["update-ref", "--no-deref", "--stdin", "-z"],
    environment,
    stdin: Buffer.from(commands.join(""), "latin1"),
    deadlineMs: REFS_MS,
    outputBytes: 1024,
  });
  if (created.code !== 0) throw engineFailure(engine, "creating the refs of a repository", created);
  await must(engine, environment, ["pack-refs", "--all"], REFS_MS);
  await must(engine, environment, ["rev-list", "--objects", "--quiet", "--all"], UNPACK_MS);
}

async function must(
  engine: Engine,
  environment: Record<string, string>,
  args: string[],
  deadlineMs: number,
): Promise<void> {
  const result = await engine.runner.run({ args, environment, deadlineMs, outputBytes: 1024 });
  if (result.code !== 0) throw engineFailure(engine, "checking a repository", result);
}
