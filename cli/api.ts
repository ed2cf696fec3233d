import { unexpected } from "./api-failure.ts";
import { isRecord } from "./config.ts";
import { type Call, type Opened, openCall } from "./request.ts";
import type { System } from "./system.ts";
import type { Target } from "./target.ts";

/** The largest JSON response that is read into memory. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;
/** The largest page of a server, and the pages after which a list is considered endless. */
const PAGE = 200;
const PAGES_MAX = 1000;

export interface Api {
  readonly target: Target;
  /** @throws CliError for every unsuccessful response, with the server's code and message. */
  call<T>(call: Call): Promise<T>;
  /** The items of an answer that is a list itself, as some of GitHub's are. */
  items<T>(call: Call): Promise<T[]>;
  /** The items of a list under `key`, over all its pages, up to `limit`. */
  list<T>(call: Call, key: string, limit?: number): Promise<T[]>;
  /** The successful response with its body unread. */
  open(call: Call): Promise<Opened>;
}

/** A client for one host. The token is sent there and nowhere else. */
export function makeApi(system: System, target: Target, timeout: number | undefined): Api {
  const open = (call: Call) => openCall(system, target, call, timeout);
  const call = async <T>(wanted: Call): Promise<T> => {
    const value = await readJson(await open(wanted));
    if (!isRecord(value)) throw unexpected("an answer that is not a JSON object");
    return value as T;
  };
  return {
    target,
    open,
    call,
    async items<T>(wanted: Call) {
      const value = await readJson(await open(wanted));
      if (!Array.isArray(value)) throw unexpected("an answer that is not a list");
      return value as T[];
    },
    async list<T>(wanted: Call, key: string, limit = Number.POSITIVE_INFINITY) {
      const items: T[] = [];
      let cursor: string | undefined;
      for (let pages = 0; pages < PAGES_MAX && items.length < limit; pages++) {
        const query = { ...wanted.query, limit: Math.min(limit - items.length, PAGE), cursor };
        const page = await call<Record<string, unknown>>({ ...wanted, query });
        const found = page[key];
        if (!Array.isArray(found)) throw unexpected(`a list without \`${key}\``);
        items.push(...found.slice(0, limit - items.length));
        const next = page["next_cursor"];
        if (typeof next !== "string" || next === "" || next === cursor) break;
        cursor = next;
      }
      return items;
    },
  };
}

/** @throws CliError `unexpected_response` if it is not JSON, for example a proxy's error page. */
async function readJson(opened: Opened): Promise<unknown> {
  const text = new TextDecoder().decode(await readBounded(opened));
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected("an answer that is not JSON");
  }
}

/** @throws CliError `unexpected_response` past 64 MiB. */
export async function readBounded(opened: Opened): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of opened.whole()) {
    size += part.byteLength;
    if (size > ANSWER_MAX_BYTES) throw unexpected("an answer of more than 64 MiB");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Builds a path. Each part is encoded as one segment. */
export function path(strings: TemplateStringsArray, ...parts: (string | number)[]): string {
  return String.raw({ raw: strings }, ...parts.map((part) => encodeURIComponent(String(part))));
}
