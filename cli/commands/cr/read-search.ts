import { parseSearch, type Search } from "../../../src/contract/search/parse.ts";
import { usage } from "../../failure.ts";

/** Reads a search for change requests as the server does. @throws CliError for one that cannot be read */
export function readSearch(text: string): Search {
  const parsed = parseSearch(text);
  if ("problem" in parsed) throw usage(parsed.problem);
  return parsed.search;
}
