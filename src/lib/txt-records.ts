import { Resolver } from "node:dns/promises";
import { within } from "./within.ts";

/** Looks up the texts of the TXT records at a name; none if there is no such name. Rejects when no server answers. */
export type TxtRecords = (name: string) => Promise<string[]>;

const LIMIT_MS = 10_000;
/** A name has a few; an answer may have thousands. */
const RECORDS_MAX = 100;
/** Errors that say that there are none. */
const NONE: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA"]);

/** @param servers addresses of DNS servers, `address:port`; by default those of the system */
export function createTxtRecords({
  servers = [],
  limitMs = LIMIT_MS,
}: {
  servers?: readonly string[];
  limitMs?: number;
} = {}): TxtRecords {
  return async (name) => {
    const resolver = new Resolver();
    if (servers.length > 0) resolver.setServers(servers);
    try {
      const late = () => new Error(`No DNS server answered for ${name} in ${limitMs} ms.`);
      const records = await within(resolver.resolveTxt(name), limitMs, late);
      return records.slice(0, RECORDS_MAX).map((parts) => parts.join(""));
    } catch (error) {
      if (error instanceof Error && NONE.has(Reflect.get(error, "code"))) return [];
      throw error;
    } finally {
      resolver.cancel();
    }
  };
}
