import { call } from "./call.ts";

/** Rows per request. */
const PAGE = 200;

/**
 * The rows of a list of the API, up to a number of pages.
 * @param path below `/v1`, without `limit` and `cursor`
 * @param name the key of the rows in the response
 */
export async function readAll<Row>(
  path: string,
  name: string,
  { pages, signal }: { pages: number; signal: AbortSignal },
): Promise<Row[]> {
  const all: Row[] = [];
  let cursor = "";
  for (let page = 0; page < pages; page++) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(cursor && { cursor }) });
    const answer = await call<{ [name: string]: Row[] | string | undefined }>("GET", `${path}?${query}`, {
      signal,
    });
    const { [name]: rows, next_cursor: next } = answer;
    if (Array.isArray(rows)) all.push(...rows);
    if (typeof next !== "string") break;
    cursor = next;
  }
  return all;
}
