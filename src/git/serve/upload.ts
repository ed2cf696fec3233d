import type { Protocol, Transfer } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { FLUSH, packet } from "../remote/pkt-line.ts";
import type { Engine } from "../run/engine.ts";
import { baseEnvironment, type Setting, withSettings } from "../run/environment.ts";
import { engineFailure } from "../run/failure.ts";

/** The settings of `git-upload-pack`, which override those of the repository. */
const SERVING: readonly Setting[] = [
  // in seconds: some clients give up on a server that is silent for five (isomorphic-git)
  ["uploadpack.keepAlive", "2"],
  // merged change requests and saved work: svc's own
  ["transfer.hideRefs", "refs/cr/"],
  ["transfer.hideRefs", "refs/svc/"],
  ["uploadpack.allowFilter", "true"],
  // other filters make the server search all trees for each answer
  ["uploadpackfilter.allow", "false"],
  ["uploadpackfilter.blob:none.allow", "true"],
  ["uploadpackfilter.blob:limit.allow", "true"],
  ["uploadpackfilter.tree.allow", "true"],
  ["uploadpackfilter.object:type.allow", "true"],
  ["uploadpack.allowTipSHA1InWant", "true"],
  ["uploadpack.allowReachableSHA1InWant", "true"],
  // an empty repository advertises its first branch, too
  ["lsrefs.unborn", "advertise"],
];

/** Version 2 advertises only capabilities, which depend only on the version of git. */
const capabilities = new WeakMap<Mirror, Promise<Uint8Array>>();

/**
 * The answer to `GET info/refs?service=git-upload-pack` (gitprotocol-http).
 * @throws SvcError `merge_engine_failed`
 */
export async function advertiseUpload(
  engine: Engine,
  mirror: Mirror,
  protocol: Protocol,
): Promise<Uint8Array> {
  if (protocol !== "version=2") {
    const refs = await runUploadPack(engine, mirror, protocol);
    return Buffer.concat([packet("# service=git-upload-pack\n"), FLUSH, refs]);
  }
  const known = capabilities.get(mirror);
  if (known) return await known;
  const answer = runUploadPack(engine, mirror, protocol);
  capabilities.set(mirror, answer);
  answer.catch(() => capabilities.delete(mirror));
  return await answer;
}

async function runUploadPack(engine: Engine, mirror: Mirror, protocol: Protocol): Promise<Uint8Array> {
  const result = await engine.runner.run({
    args: ["upload-pack", "--strict", "--stateless-rpc", "--http-backend-info-refs", mirror.directory],
    environment: environmentOf(engine, protocol),
    deadlineMs: engine.limits.mergeMs,
    memory: engine.limits.fetchMemory,
    outputBytes: engine.limits.outputBytes,
  });
  if (result.code !== 0) throw engineFailure(engine, "listing the refs", result);
  return result.stdout;
}

/** The answer to `POST git-upload-pack`, from git. It ends early when it is not read. */
export function answerUpload(
  engine: Engine,
  mirror: Mirror,
  request: { protocol: Protocol; body: Uint8Array; signal: AbortSignal },
): Transfer {
  const { transferMs, stallMs, packMs, fetchMemory } = engine.limits;
  const { stdout, ended } = engine.runner.stream({
    args: ["upload-pack", "--strict", "--stateless-rpc", mirror.directory],
    environment: environmentOf(engine, request.protocol),
    stdin: request.body,
    deadlineMs: packMs,
    wallMs: transferMs,
    stallMs,
    memory: fetchMemory,
    signal: request.signal,
  });
  return { answer: stdout, ended };
}

function environmentOf(engine: Engine, protocol: Protocol): Record<string, string> {
  const environment = withSettings(baseEnvironment(engine.directories.home), SERVING);
  return protocol === null ? environment : { ...environment, GIT_PROTOCOL: protocol };
}
