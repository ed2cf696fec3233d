import { readBounded } from "../api.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { readInput } from "../input.ts";
import { checkJq, runJq } from "../output.ts";
import type { Call, Opened } from "../request.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/tools.ts";
import { lines, oneLine, safeJson } from "../text.ts";
import { type Field, readFields, toBody, toQuery } from "./api-fields.ts";

const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"];
/** Pages after which `--paginate` considers a list endless. */
const PAGES_MAX = 1000;

export const api: Handler<typeof table.api> = async (context, { args, flags }) => {
  if (flags.jq !== undefined) await checkJq(flags.jq);
  const fields = await readFields(context, flags.field, flags["raw-field"]);
  const method = methodOf(flags.method, fields.length > 0 || flags.input !== undefined);
  if (flags.paginate && method !== "GET") throw usage("--paginate works only with GET.");
  if (flags.paginate && flags.include) throw usage("--paginate and --include exclude each other.");
  const call = await callOf(context, args.path, method, fields, flags.input);
  const client = await context.api();
  const text = flags.paginate
    ? await allPages(context, call)
    : await onePage(context, await client.open(call), flags.include);
  await print(context, text, flags.jq);
};

function methodOf(given: string | undefined, hasBody: boolean): string {
  const method = given?.toUpperCase() ?? (hasBody ? "POST" : "GET");
  if (METHODS.includes(method)) return method;
  throw usage(`-X must be one of ${METHODS.join(", ")}; not ${oneLine(method)}`);
}

async function callOf(
  context: Context,
  given: string,
  method: string,
  fields: readonly Field[],
  input: string | undefined,
): Promise<Call> {
  const target = await context.target();
  const path = await pathOf(context, given, target.url);
  const asQuery = method === "GET" || method === "HEAD" || input !== undefined;
  const [bare = "", search = ""] = path.split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  if (asQuery) for (const [name, value] of toQuery(fields)) query.append(name, value);
  const full = query.size === 0 ? bare : `${bare}?${query}`;
  if (input !== undefined) {
    const bytes = await readInput(context, input, "--input");
    return { method, path: full, raw: { bytes, type: "application/json" } };
  }
  return asQuery || fields.length === 0
    ? { method, path: full }
    : { method, path: full, body: toBody(fields) };
}

/** The path below `/v1`. A full URL must be on the host: the token is sent nowhere else. */
async function pathOf(context: Context, given: string, base: string): Promise<string> {
  let path = given;
  if (/^[a-z][a-z0-9+.-]*:/i.test(given)) {
    if (!given.startsWith(`${base}/`)) {
      throw usage(
        `${oneLine(given).slice(0, 200)} is not below ${base}. Nothing was sent.`,
        "Pass only the path, for example `svc api projects`.",
      );
    }
    path = given.slice(base.length);
  }
  path = path.replace(/^\/+/, "").replace(/^v1\//, "");
  if (path.includes("{project_id}")) {
    const { id } = await context.project();
    path = path.replaceAll("{project_id}", encodeURIComponent(id));
  }
  if (path.includes("#")) throw usage("The path has a fragment, which is not sent. Write %23 for a #.");
  return `/${path}`;
}

async function onePage(context: Context, opened: Opened, include: boolean): Promise<Uint8Array> {
  const body = await readBounded(opened);
  if (!include) return body;
  const { response } = opened;
  const head = [`HTTP ${response.status} ${response.statusText}`.trim()];
  response.headers.forEach((value, name) => {
    head.push(`${name}: ${value}`);
  });
  await context.system.stdout.write(`${head.map(oneLine).join("\n")}\n\n`);
  return body;
}

/** All pages as one object: the first page, with the lists of the others appended. */
async function allPages(context: Context, call: Call): Promise<Uint8Array> {
  const client = await context.api();
  const [bare = "", search = ""] = call.path.split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  let whole: Record<string, unknown> | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await client.call<Record<string, unknown>>({
      ...call,
      path: query.size ? `${bare}?${query}` : bare,
    });
    const { next_cursor: next, ...rest } = page;
    if (whole === undefined) whole = rest;
    else {
      for (const [key, value] of Object.entries(rest)) {
        const known = whole[key];
        if (Array.isArray(known) && Array.isArray(value)) whole[key] = known.concat(value);
      }
    }
    if (typeof next !== "string" || next === "" || next === query.get("cursor")) break;
    query.set("cursor", next);
  }
  return new TextEncoder().encode(JSON.stringify(whole ?? {}));
}

async function print({ system }: Context, body: Uint8Array, jq: string | undefined): Promise<void> {
  const { stdout } = system;
  if (jq !== undefined) {
    const text = new TextDecoder().decode(body);
    await stdout.write(await runJq(text, jq, stdout.isTTY));
    return;
  }
  if (!stdout.isTTY) return stdout.write(body);
  const text = new TextDecoder().decode(body);
  await stdout.write(`${pretty(text)}\n`);
}

function pretty(text: string): string {
  try {
    return safeJson(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return lines(text).trimEnd();
  }
}
