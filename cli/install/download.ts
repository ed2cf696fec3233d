import { VERSION } from "../../src/contract/version.ts";
import { CliError, systemCode } from "../failure.ts";
import type { System } from "../system.ts";

/** Without a byte for this time, a download is given up. */
const SILENT_MS = 30_000;
/** The largest archive at 75 kB/s. */
const TOTAL_MS = 10 * 60_000;

interface Limits {
  maxBytes: number;
  totalMs?: number;
  /** What to do if the server does not have the file. */
  missing?: string;
}

/**
 * Downloads a file.
 * @throws CliError `update_failed` for an error of the server and a file larger than `maxBytes`; `network`, `timeout`
 */
export async function download(
  system: Pick<System, "fetch">,
  url: string,
  { maxBytes, totalMs = TOTAL_MS, missing }: Limits,
): Promise<Uint8Array> {
  const silence = new AbortController();
  const signal = AbortSignal.any([silence.signal, AbortSignal.timeout(totalMs)]);
  let timer = setTimeout(() => silence.abort(), SILENT_MS);
  try {
    const response = await system.fetch(url, { signal, headers: { "User-Agent": `svc/${VERSION}` } });
    if (!response.ok) {
      throw failed(
        `${url} answered with status ${response.status}`,
        (response.status === 404 && missing) ||
          "Run the command again. If it fails again, ask the operator of that server.",
      );
    }
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_MS);
      size += part.byteLength;
      if (size > maxBytes)
        throw failed(
          `${url} is larger than ${maxBytes} bytes`,
          "It is not a file of a release. Ask the operator of that server.",
        );
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (signal.aborted)
      throw new CliError("timeout", `The download of ${url} took too long.`, {
        hint: "Run the command again.",
      });
    throw new CliError("network", `Cannot download ${url} (${reasonOf(error)}).`, {
      hint: "Check the connection to that server, and HTTP_PROXY and HTTPS_PROXY if there is a proxy.",
    });
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function reasonOf(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : "unknown error");
}

const failed = (what: string, hint: string): CliError => new CliError("update_failed", `${what}.`, { hint });
