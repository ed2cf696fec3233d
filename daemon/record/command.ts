import { AGENT_RECORD_MAX_BYTES } from "../../src/contract/limits.ts";
import { packRecord, RecordTooLargeError, unpackRecord } from "./archive.ts";

/** The exit status of a record that is too large: EX_DATAERR of sysexits(3). */
export const TOO_LARGE = 65;

/**
 * `svc-agent record pack|unpack <home> <path>…`: packs the agent's record to standard output, or unpacks one from standard
 * input. The daemon runs it as the agent, since the home is the agent's.
 * @returns the exit status
 */
export async function runRecord([verb, home = "", ...paths]: readonly string[]): Promise<number> {
  try {
    if (verb === "pack") await Bun.write(Bun.stdout, await packRecord(home, paths));
    else await unpackRecord(home, paths, await readInput());
    return 0;
  } catch (error) {
    if (error instanceof RecordTooLargeError) return TOO_LARGE;
    process.stderr.write(`svc-agent record: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}

async function readInput(): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of Bun.stdin.stream()) {
    bytes += part.length;
    if (bytes > AGENT_RECORD_MAX_BYTES) throw new RecordTooLargeError();
    parts.push(part);
  }
  return Buffer.concat(parts);
}
