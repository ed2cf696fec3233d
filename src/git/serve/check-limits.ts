import { SvcError } from "../../contract/errors.ts";
import { createChangeCounter } from "../diff/tree-changes.ts";
import type { RefUpdate } from "../mirror/update-refs.ts";
import { createObjects } from "../read/objects.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import type { Quarantine } from "./quarantine.ts";

/**
 * Checks the inflated size of a push and the number of paths that it changes.
 * @returns why it exceeds the limits, for the pusher, or null
 */
export async function checkLimits(
  engine: Engine,
  quarantine: Quarantine,
  updates: readonly RefUpdate[],
): Promise<string | null> {
  return (await tooLarge(engine, quarantine)) ?? (await tooManyPaths(engine, quarantine, updates));
}

/** A few compressed kilobytes can inflate to gigabytes, which every reader would have to process. */
async function tooLarge(engine: Engine, quarantine: Quarantine): Promise<string | null> {
  const { inflatedBytes, inflatedRatio, packMs, fetchMemory } = engine.limits;
  // only the objects that were pushed
  const { GIT_ALTERNATE_OBJECT_DIRECTORIES: _, ...environment } = quarantine.environment;
  const sums = createSums();
  const result = await engine.runner.run({
    args: [
      "cat-file",
      "--batch-all-objects",
      "--unordered",
      "--buffer",
      "--batch-check=%(objectsize) %(objectsize:disk)",
    ],
    environment,
    deadlineMs: packMs,
    memory: fetchMemory,
    onStdout(chunk) {
      sums.take(chunk);
      return true;
    },
  });
  if (result.code !== 0) throw engineFailure(engine, "measuring what was pushed", result);
  const [inflated = 0, sent = 0] = sums.columns;
  if (inflated <= Math.max(inflatedBytes, sent * inflatedRatio)) return null;
  const [mib, most] = [inflated, inflatedBytes].map((bytes) => Math.floor(bytes / 1024 / 1024));
  return `the objects are ${mib} MiB when they are unpacked, and a push has at most ${most}: push in parts`;
}

/** Compares a new branch with the default one, whose paths were checked before. */
async function tooManyPaths(
  engine: Engine,
  quarantine: Quarantine,
  updates: readonly RefUpdate[],
): Promise<string | null> {
  const objects = createObjects(engine, quarantine.environment);
  const count = createChangeCounter(objects, engine.limits, engine.limits.pushPaths);
  try {
    const pairs = new Map(updates.map(({ from, to }) => [`${from} ${to}`, { from, to }]));
    for (const { from, to } of pairs.values()) if (to !== null) await count(from ?? "HEAD", to);
    return null;
  } catch (error) {
    if (error instanceof SvcError && error.code === "payload_too_large") return error.message;
    throw error;
  } finally {
    objects.stop();
  }
}

const SPACE = 32;
const NEWLINE = 10;
const ZERO = 48;

/** Adds up lines of two numbers, which may be split across pieces. */
function createSums(): { take(chunk: Uint8Array): void; columns: readonly number[] } {
  const columns: [number, number] = [0, 0];
  let column: 0 | 1 = 0;
  let number = 0;
  return {
    columns,
    take(chunk) {
      for (const byte of chunk) {
        if (byte !== SPACE && byte !== NEWLINE) {
          number = number * 10 + byte - ZERO;
          continue;
        }
        columns[column] += number;
        column = byte === SPACE ? 1 : 0;
        number = 0;
      }
    },
  };
}
