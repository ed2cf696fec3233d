import { Resolver } from "node:dns/promises";
import { within } from "./within.ts";

/** Looks up the texts of the TXT records at a name; none if there is no such name. Rejects when no server answers. */
export type TxtRecords = (name: string) => Promise<string[]>;

const LIMIT_MS = 10_000;
/** A name has a few; an answer may have thousands. */
const RECORDS_MAX = 100;
/** Errors that say that there are none. */
const NONE: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA"]);

/** Looks up TXT records with the resolver of the system. */
export const lookUpTxtRecords: TxtRecords = async (name) => {
  const resolver = new Resolver();
  try {
    const late = () => new Error(`The resolver did not answer for ${name} in ${LIMIT_MS / 1000} seconds.`);
    const records = await within(resolver.resolveTxt(name), LIMIT_MS, late);
    return records.slice(0, RECORDS_MAX).map((parts) => parts.join(""));
  } catch (error) {
    if (error instanceof Error && NONE.has(Reflect.get(error, "code"))) return [];
    throw error;
  } finally {
    resolver.cancel();
  }
};
