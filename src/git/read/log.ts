import { SvcError } from "../../contract/errors.ts";
import type { LoggedCommit, LogPage, LogRequest } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure, objectMissing } from "../run/failure.ts";
import { linesOf, query } from "../run/query.ts";
import { parseCommit } from "./commit.ts";
import { commitSignature } from "./commit-signature.ts";
import { readObjectBytes } from "./object-bytes.ts";

/**
 * Lists the commits reachable from one, in the order of `git log`. Git lists only their ids; the objects are read here,
 * so that their text cannot be mistaken for separators, and large ones do not fill the memory.
 * @throws SvcError `validation_failed`, `merge_engine_failed`; MirrorSuspect
 */
export async function logCommits(engine: Engine, mirror: Mirror, request: LogRequest): Promise<LogPage> {
  const ids = await listIds(engine, mirror, request);
  const wanted = ids.slice(0, request.limit);
  return {
    commits: await readCommits(engine, mirror, wanted, request.signatures),
    more: ids.length > wanted.length,
  };
}

/** One more than the limit, to find out whether there are more. */
async function listIds(engine: Engine, mirror: Mirror, request: LogRequest): Promise<string[]> {
  const { args, stdin } = withPath(request);
  const page = [`--max-count=${request.limit + 1}`, `--skip=${request.skip}`];
  const list = ["--literal-pathspecs", "rev-list", ...page, ...args];
  const result = await query(engine, mirror, list, stdin && { stdin });
  if (result.code !== 0 || result.stopped) throw engineFailure(engine, "reading the history", result);
  return linesOf(result);
}

/** A path that is not UTF-8 cannot be an argument, and one with a line end cannot be on standard input. */
function withPath({ commit, without, path }: LogRequest): { args: string[]; stdin?: Buffer } {
  const commits = without === undefined ? [commit] : [commit, `^${without}`];
  if (path.length === 0) return { args: [...commits, "--"] };
  const bytes = Buffer.from(path);
  const text = bytes.toString("utf8");
  if (Buffer.from(text).equals(bytes)) return { args: [...commits, "--", text] };
  if (bytes.includes("\n") || bytes.includes("\r")) {
    throw new SvcError("validation_failed", "A path with a line break must be UTF-8.");
  }
  return {
    args: ["--stdin"],
    stdin: Buffer.concat([Buffer.from(`${commits.join("\n")}\n--\n`), bytes, NEWLINE]),
  };
}

const NEWLINE = Buffer.from("\n");

async function readCommits(
  engine: Engine,
  mirror: Mirror,
  ids: readonly string[],
  signatures = false,
): Promise<LoggedCommit[]> {
  const whole = await Promise.all(ids.map((id) => readWhole(engine, mirror, id)));
  const until = performance.now() + engine.limits.mergeMs;
  const commits: LoggedCommit[] = [];
  for (const [index, id] of ids.entries()) {
    const bytes = whole[index] ?? (await readBeginning(engine, mirror, id, until));
    const of = [id, bytes, whole[index] !== null] as const;
    commits.push({ ...parseCommit(...of), ...(signatures && { signature: commitSignature(...of) }) });
  }
  return commits;
}

/** Null when it is too large. */
async function readWhole(engine: Engine, mirror: Mirror, id: string): Promise<Uint8Array | null> {
  const info = await mirror.objects.info(id);
  if (info && info.size > engine.limits.commitBytes) return null;
  const bytes = info && (await mirror.objects.contents(id));
  if (bytes) return bytes;
  throw objectMissing();
}

async function readBeginning(engine: Engine, mirror: Mirror, id: string, until: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  await readObjectBytes(engine, mirror, {
    type: "commit",
    id,
    deadlineMs: Math.max(1, until - performance.now()),
    onBytes(bytes) {
      chunks.push(bytes);
      length += bytes.length;
      return length < engine.limits.commitBytes;
    },
  });
  return Buffer.concat(chunks).subarray(0, engine.limits.commitBytes);
}
