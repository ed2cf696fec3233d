import { SvcError } from "../contract/errors.ts";
import { MODEL_ID, UPSTREAM_KEY } from "../contract/model-upstream.ts";

/** The most details in one error. */
const DETAILS_MAX = 20;
const SENTENCE_MAX = 300;
/** Values of a list in a message. */
const VALUES_MAX = 20;

/**
 * The error for a request that does not match its schema, in the terms of the API: `title is required.`
 * @param error the framework's, which lists what the validator (TypeBox) found
 */
export function validationFailed(error: unknown): SvcError {
  const found: unknown = Reflect.get(Object(error), "all");
  const on = String(Reflect.get(Object(error), "type") ?? "body");
  const details = new Map<string, string>();
  for (const item of Array.isArray(found) ? found : []) {
    const path = pathOf(item) || on;
    // the first reason of a field is the one to correct
    if (details.size < DETAILS_MAX && !details.has(path)) details.set(path, messageOf(item));
  }
  const [first] = details;
  const sentence = first ? `${first[0]} ${first[1]}.` : "The request is not valid.";
  return new SvcError("validation_failed", sentence.slice(0, SENTENCE_MAX), {
    details: [...details].map(([path, message]) => ({ path, message })),
  });
}

function pathOf(item: unknown): string {
  return String(field(item, "path") ?? "")
    .replace(/^\//, "")
    .replaceAll("/", ".");
}

/** @returns a clause about the field: `must be a UUID` */
function messageOf(item: unknown): string {
  const schema = field(item, "schema");
  const value = field(item, "value");
  if (value === undefined) return "is required";
  const values = valuesOf(schema);
  if (values) return `must be one of ${values.slice(0, VALUES_MAX).join(", ")}`;
  const type = field(schema, "type");
  const kind = TYPES.find(({ name }) => name === type);
  if (kind && !kind.is(value)) return `must be ${kind.words}`;
  for (const { key, broken, message } of LIMITS) {
    const limit = field(schema, key);
    if (limit !== undefined && broken(value, limit)) return message(String(limit));
  }
  return "is not valid";
}

/** The values that are allowed, if there is a list of them. */
function valuesOf(schema: unknown): string[] | null {
  const listed = field(schema, "enum");
  if (Array.isArray(listed)) return listed.map(String);
  const parts = field(schema, "anyOf");
  if (!Array.isArray(parts)) return null;
  const values = parts.map((part) => (field(part, "type") === "null" ? null : field(part, "const")));
  return values.includes(undefined) ? null : values.map(String);
}

const TYPES: readonly { name: string; words: string; is(value: unknown): boolean }[] = [
  { name: "string", words: "text", is: (value) => typeof value === "string" },
  { name: "integer", words: "a whole number", is: Number.isInteger },
  { name: "number", words: "a number", is: Number.isFinite },
  { name: "boolean", words: "true or false", is: (value) => typeof value === "boolean" },
  { name: "array", words: "a list", is: Array.isArray },
];

interface Limit {
  /** The keyword of JSON Schema. */
  key: string;
  broken(value: unknown, limit: unknown): boolean;
  message(limit: string): string;
}

const size = (value: unknown): number =>
  typeof value === "string" || Array.isArray(value) ? value.length : 0;

const LIMITS: readonly Limit[] = [
  {
    key: "minLength",
    broken: (value, least) => size(value) < Number(least),
    message: (least) => (least === "1" ? "must not be empty" : `must have at least ${least} characters`),
  },
  {
    key: "maxLength",
    broken: (value, most) => size(value) > Number(most),
    message: (most) => `must have at most ${most} characters`,
  },
  {
    key: "minItems",
    broken: (value, least) => size(value) < Number(least),
    message: (least) => (least === "1" ? "must not be empty" : `must have at least ${least} entries`),
  },
  {
    key: "maxItems",
    broken: (value, most) => size(value) > Number(most),
    message: (most) => `must have at most ${most} entries`,
  },
  {
    key: "minimum",
    broken: (value, least) => Number(value) < Number(least),
    message: (least) => `must be at least ${least}`,
  },
  {
    key: "maximum",
    broken: (value, most) => Number(value) > Number(most),
    message: (most) => `must be at most ${most}`,
  },
  { key: "format", broken: () => true, message: (format) => FORMATS[format] ?? `must be a valid ${format}` },
  {
    key: "pattern",
    broken: (value, pattern) => !new RegExp(String(pattern)).test(String(value)),
    message: (pattern) =>
      PATTERNS[pattern] ??
      (pattern.includes("{40}") ? "must be the full id of a commit" : `must match ${pattern}`),
  },
];

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "must be a UUID",
  "date-time": "must be a time such as 2026-01-31T12:00:00Z",
  email: "must be an e-mail address",
};

const PATTERNS: Readonly<Record<string, string>> = {
  "\\S": "must not be blank",
  "^\\d+$": "must be a whole number",
  [MODEL_ID]: "must be 1 to 256 printable ASCII characters without blanks",
  [UPSTREAM_KEY]: "must be 1 to 4096 printable ASCII characters without blanks",
};

function field(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}
