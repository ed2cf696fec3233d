import { DISK_FULL, isDiskFullMessage } from "../../contract/disk-full.ts";
import type { Engine } from "../run/engine.ts";
import { redact } from "../run/redact.ts";
import type { RunResult } from "../run/run.ts";
import type { Quarantine } from "./quarantine.ts";
import type { RequestReader } from "./request-reader.ts";

/** `PACK`, a version and the number of objects, four bytes each (gitformat-pack). */
const HEADER_BYTES = 12;

/** Harmless faults of old versions of git and of importers, which many well-known repositories contain. */
const TOLERATED = ["missingSpaceBeforeDate", "badTimezone", "zeroPaddedFilemode", "badFilemode"];

/**
 * Unpacks the pack that follows a push's commands into the quarantine and checks every object.
 * @param onProgress gets git's progress counters
 * @returns why it was not accepted, for the pusher, or null
 */
export async function unpack(
  engine: Engine,
  quarantine: Quarantine,
  reader: RequestReader,
  onProgress: (bytes: Uint8Array) => void,
): Promise<string | null> {
  const header = Buffer.from(await reader.peek(HEADER_BYTES));
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, 4) !== "PACK") return "no pack was sent";
  if (header.readUInt32BE(8) === 0) {
    await reader.drain();
    return null;
  }
  const { packBytes, packMs, fetchMemory } = engine.limits;
  const strict = `--strict=${TOLERATED.map((name) => `${name}=ignore`).join(",")}`;
  const result = await engine.runner.run({
    args: [
      "index-pack",
      "--stdin",
      "--fix-thin",
      strict,
      `--max-input-size=${packBytes}`,
      "--show-resolving-progress",
    ],
    environment: quarantine.environment,
    feed: async (write) => {
      for (let piece = await reader.read(); piece; piece = await reader.read()) {
        if (!(await write(piece))) break;
        await engine.checkpoint("pack-begun");
      }
      await reader.drain();
    },
    onStderr: (chunk) => onProgress(progressIn(chunk)),
    deadlineMs: packMs,
    memory: fetchMemory,
    outputBytes: 1024,
  });
  if (result.code === 0) return null;
  return reason(engine, result);
}

/**
 * Checks that commits are there with everything reachable from them.
 * @returns why not, or null
 */
export async function checkConnected(
  engine: Engine,
  quarantine: Quarantine,
  ids: readonly string[],
): Promise<string | null> {
  const result = await engine.runner.run({
    args: ["rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"],
    environment: quarantine.environment,
    stdin: `${ids.join("\n")}\n`,
    deadlineMs: engine.limits.packMs,
    memory: engine.limits.fetchMemory,
    outputBytes: 1024,
  });
  if (result.code === 0) return null;
  if (result.stopped || result.code === null) return reason(engine, result);
  return "objects are missing; from a shallow clone, run: git fetch --unshallow";
}

function reason(engine: Engine, result: RunResult): string {
  const { stopped, stderr } = result;
  if (stopped === "memory") return "the pack needs too much memory";
  if (stopped === "deadline") return "the pack took too long";
  if (stopped || result.code === null) return "svc's git was stopped: push again";
  if (isDiskFullMessage(stderr)) return DISK_FULL;
  const words = redact(stderr, [], Object.values(engine.directories), WORDS_MAX_BYTES);
  const last = words.split("\n").filter((line) => /^(?:fatal|error):/.test(line));
  return last[0]?.replace(/^(?:fatal|error): /, "") || "the pack is damaged";
}

const WORDS_MAX_BYTES = 2048;

/** Only counters: other output of git may contain the server's paths or text of the objects. */
function progressIn(chunk: Uint8Array): Uint8Array {
  const lines = Buffer.from(chunk)
    .toString("latin1")
    .split(/(?<=[\r\n])/);
  return Buffer.from(lines.filter((line) => COUNTER.test(line)).join(""), "latin1");
}

const COUNTER = /^(?:Receiving objects|Resolving deltas|Indexing objects): [ -~]*[\r\n]$/;
