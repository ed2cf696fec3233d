import { isObject } from "../contract/json.ts";
import { MODEL_FORMATS, MODEL_ID, PRICE_MAX, UPSTREAM_ID, UPSTREAM_KEY } from "../contract/model-upstream.ts";

export type Format = (typeof MODEL_FORMATS)[number];

/** US dollars per million tokens. */
export interface Prices {
  input: number;
  output: number;
  cachedInput: number;
}

/** A model of an upstream. */
export interface Model {
  /** The name by which clients call it. */
  id: string;
  /** The upstream's own name for it. */
  name: string;
  /** Null: unknown. */
  prices: Prices | null;
}

/** A service that runs models. */
export interface Upstream {
  id: string;
  format: Format;
  /** The base URL, without a trailing slash, to which the routes of the format are appended. */
  url: string;
  key: string;
  /** Whether a project has chosen the URL, and brings the key: requests to it are guarded. */
  isOfProject: boolean;
  /** By `id`. Null: the upstream accepts any name, and prices are unknown. */
  models: ReadonlyMap<string, Model> | null;
}

/** An upstream that serves a model. */
export interface Route {
  upstream: Upstream;
  model: Model;
}

/** What serves the calls of a project. */
export interface ProjectUpstreams {
  own: readonly Upstream[];
  server: readonly Upstream[];
}

/**
 * The upstreams that serve a model in a format, in the order of the configuration. Calls of a model that the project has
 * itself never fall back to the server's upstreams: the project has chosen who reads its prompts, and who pays.
 */
export function routesTo({ own, server }: ProjectUpstreams, format: Format, id: string): Route[] {
  const first = routesAmong(own, format, id);
  return first.length > 0 ? first : routesAmong(server, format, id);
}

function routesAmong(upstreams: readonly Upstream[], format: Format, id: string): Route[] {
  return upstreams.flatMap((upstream) => {
    if (upstream.format !== format) return [];
    if (upstream.models === null) return [{ upstream, model: { id, name: id, prices: null } }];
    const model = upstream.models.get(id);
    return model ? [{ upstream, model }] : [];
  });
}

/** The first model that is configured for a format; null if no upstream names any. */
export function firstModel(upstreams: readonly Upstream[], format: Format): string | null {
  for (const upstream of upstreams) {
    if (upstream.format !== format || upstream.models === null) continue;
    for (const id of upstream.models.keys()) return id;
  }
  return null;
}

/** The file is not valid. The message names the place, and no value of a key. */
export class CatalogError extends Error {
  override readonly name = "CatalogError";
}

const UPSTREAMS_MAX = 64;
const MODELS_MAX = 1_000;
const ID = new RegExp(UPSTREAM_ID);
const MODEL = new RegExp(MODEL_ID);
const KEY = new RegExp(UPSTREAM_KEY);

/**
 * Reads the upstreams of a parsed file (contract: Models).
 * @param env where `key_env` is looked up
 * @throws CatalogError
 */
export function readCatalog(file: unknown, env: Readonly<Record<string, string | undefined>>): Upstream[] {
  const root = tableOf(file, "the file", ["upstreams"]);
  const upstreams = listOf(root["upstreams"], "upstreams", UPSTREAMS_MAX).map((entry, index) =>
    readUpstream(entry, `upstreams[${index}]`, env),
  );
  requireDistinct(upstreams, "upstreams");
  return upstreams;
}

function readUpstream(
  entry: unknown,
  at: string,
  env: Readonly<Record<string, string | undefined>>,
): Upstream {
  const table = tableOf(entry, at, ["id", "format", "url", "key", "key_env", "models"]);
  const format = MODEL_FORMATS.find((known) => known === table["format"]);
  if (!format) throw new CatalogError(`${at}.format must be ${MODEL_FORMATS.join(" or ")}`);
  const models =
    table["models"] === undefined
      ? null
      : listOf(table["models"], `${at}.models`, MODELS_MAX).map((model, index) =>
          readModel(model, `${at}.models[${index}]`),
        );
  if (models) requireDistinct(models, `${at}.models`);
  return {
    id: matching(table["id"], `${at}.id`, ID, "letters, digits, dots, dashes and underscores"),
    format,
    url: upstreamUrl(table["url"], `${at}.url`),
    key: readKey(table, at, env),
    isOfProject: false,
    models: models && new Map(models.map((model) => [model.id, model])),
  };
}

/** @throws CatalogError for all but an http or https URL without credentials, query or fragment */
export function upstreamUrl(value: unknown, at: string): string {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new CatalogError(`${at} must be an http or https URL without credentials, query or fragment`);
  return url.href.replace(/\/+$/, "");
}

function readKey(
  table: Record<string, unknown>,
  at: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { key, key_env: name } = table;
  if ((key === undefined) === (name === undefined))
    throw new CatalogError(`${at} must have either key or key_env`);
  if (name === undefined) return matching(key, `${at}.key`, KEY, "printable ASCII without blanks");
  const variable = matching(name, `${at}.key_env`, /^[A-Za-z_]\w{0,127}$/, "the name of a variable");
  if (!env[variable]) throw new CatalogError(`${at}.key_env names ${variable}, which is not set`);
  return matching(
    env[variable],
    `${at}.key_env: the value of ${variable}`,
    KEY,
    "printable ASCII without blanks",
  );
}

function readModel(entry: unknown, at: string): Model {
  const table = tableOf(entry, at, ["id", "name", "input", "output", "cached_input"]);
  const id = matching(table["id"], `${at}.id`, MODEL, "printable ASCII without blanks");
  const name =
    table["name"] === undefined
      ? id
      : matching(table["name"], `${at}.name`, MODEL, "printable ASCII without blanks");
  const [input, output, cached] = ["input", "output", "cached_input"].map((field) =>
    table[field] === undefined ? null : price(table[field], `${at}.${field}`),
  );
  const prices = pricesOf({ input, output, cached });
  if (prices === undefined) throw new CatalogError(`${at} must have both input and output`);
  return { id, name, prices };
}

/** @returns null without prices, undefined if only some are given */
export function pricesOf(given: Record<"input" | "output" | "cached", number | null | undefined>) {
  const { input, output, cached } = given;
  if (input == null && output == null && cached == null) return null;
  if (input == null || output == null) return undefined;
  return { input, output, cachedInput: cached ?? input };
}

function price(value: unknown, at: string): number {
  if (typeof value === "number" && value >= 0 && value <= PRICE_MAX) return value;
  throw new CatalogError(`${at} must be a price in US dollars per million tokens, from 0 to ${PRICE_MAX}`);
}

function matching(value: unknown, at: string, pattern: RegExp, expected: string): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw new CatalogError(`${at} must be a string of ${expected}`);
}

function listOf(value: unknown, at: string, max: number): unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new CatalogError(`${at} must have at least one entry: [[${at.replace(/\[\d+\]/g, "")}]]`);
  if (value.length > max) throw new CatalogError(`${at} must have at most ${max} entries`);
  return value;
}

/** A misspelled key is an error: without its price, a model would be free. */
function tableOf(value: unknown, at: string, keys: readonly string[]): Record<string, unknown> {
  if (!isObject(value)) throw new CatalogError(`${at} must be a table`);
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    // anything else may be a credential in the wrong place
    const name = /^[a-z_]{1,32}$/.test(unknown) ? ` "${unknown}"` : "";
    throw new CatalogError(`${at} has an unknown key${name}. Known: ${keys.join(", ")}`);
  }
  return value;
}

function requireDistinct(entries: readonly { id: string }[], at: string): void {
  const ids = entries.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice !== undefined) throw new CatalogError(`${at} has the id "${twice}" twice`);
}
