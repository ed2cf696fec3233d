import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import pino from "pino";
import { BackupError } from "../../backup/format.ts";
import { readArchive } from "../../backup/read-archive.ts";
import { restore } from "../../backup/restore.ts";
import type { Config } from "../../config.ts";
import { until } from "./backup.ts";
import { progressTo } from "./backup-progress.ts";

/**
 * `svc-api restore`. A file is read twice: the first time only to compare its checksums.
 * @param from a path, or `-` for standard input
 * @returns the line to print
 * @throws BackupError; the signal's reason
 */
export async function runRestore(config: Config, from: string, signal: AbortSignal): Promise<string> {
  const progress = progressTo(process.stderr, "restore");
  let bytes = 0;
  async function* source(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of until(signal, stream)) {
      bytes += piece.byteLength;
      yield piece;
    }
  }
  try {
    if (from !== "-") {
      const path = resolve(from);
      if (!(await stat(path).catch(() => null))?.isFile()) throw new BackupError(`There is no file ${path}.`);
      await readArchive(source(createReadStream(path)), async () => progress.part("checksums", bytes));
    }
    bytes = 0;
    const input = from === "-" ? Bun.stdin.stream() : createReadStream(resolve(from));
    const log = pino({ level: config.logLevel === "info" ? "error" : config.logLevel }, pino.destination(2));
    const onPart = (part: string) => progress.part(part, bytes);
    const restored = await restore(config, source(input), { log, onPart });
    if (restored === "already complete") return "This restore was complete already. Start the server.";
    const { header, tables, repositories, skipped } = restored;
    const others = skipped.length === 0 ? "" : ` Left out, since they are not svc's: ${skipped.join(", ")}.`;
    return `Restored the backup of ${header.created_at} (svc ${header.version}): ${tables} tables, ${repositories} repositories.${others} Start the server.`;
  } finally {
    progress.end();
  }
}
