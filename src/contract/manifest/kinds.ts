import { checkCron, isTimezone } from "../cron.ts";
import { DAEMON_PORT, RUNTIME_PORT } from "../daemon.ts";
import { isReservedName, RESERVED_NAME, SECRET_NAME } from "../environment.ts";
import {
  CONTEXT_MAX,
  CONTEXT_PATTERN,
  NAME_MAX,
  PROMPT_MAX_BYTES,
  REF_MAX_BYTES,
  SECRET_MAX_BYTES,
} from "../limits.ts";
import { MERGE_METHODS, type MergeMethod } from "../merge-method.ts";
import { RUNTIME_NAME, RUNTIME_NAMES } from "../runtimes.ts";
import { openBraces } from "../template.ts";

/** A kind of value. */
export interface Kind<T> {
  fits(value: unknown): value is T;
  /** Describes the valid values, as the end of `must be …`. */
  expected: string;
  /** The error for an invalid value, as the end of a sentence that starts with the key. */
  fault(value: unknown): string;
  /** The closest JSON Schema. */
  schema: Readonly<Record<string, unknown>>;
}

/** The most approvals that a project may require. */
export const APPROVALS_MAX = 100;
/** The time limit of a check: the default and the maximum. */
export const TIMEOUT_MINUTES = 30;
const TIMEOUT_MINUTES_MAX = 120;
/** Relative, with `/`; `.` is the root. No part is empty, `..` or `.git`. */
const PATH =
  "^(?:\\.|(?!\\.{1,2}(?:/|$)|\\.[gG][iI][tT](?:/|$))[^/\\\\\\p{Cc}]+(?:/(?!\\.{1,2}(?:/|$)|\\.[gG][iI][tT](?:/|$))[^/\\\\\\p{Cc}]+)*)$";
const PATH_MAX = 1024;
/** The target of an HTTP request, with a query. */
const HEALTH_PATH = '^/[!-"$-\\[\\]-~]*$';
/** Absolute and normalized, of plain characters, and not in a folder of the system or of svc. */
const VOLUME =
  "^(?!/(?:bin|boot|dev|etc|lib|lib32|lib64|libx32|nix|opt|proc|root|run|sbin|sys|tmp|usr|var|workspace)(?:/|$))(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$";
const VOLUME_MAX = 200;
/** A valid branch name, or `*` in it. */
const REF_PATTERN = "^(?![-/.])(?!.*(?:\\.\\.|//|@\\{))[^\\p{Cc} ~^:?\\[\\\\]*[^\\p{Cc} ~^:?\\[\\\\/.]$";
/** A registry and its port, a path, a tag and a digest. */
const IMAGE =
  "^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\\d{1,5})?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\\w[\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$";
const IMAGE_MAX = 255;
/** Processors or GiB. */
const AMOUNT_MAX = 1_000_000;
/** Bytes of a command. */
const COMMAND_MAX_BYTES = 8 * 1024;
/** Contract: Manifest. */
const TRIGGER_SLUG = "^[a-z0-9][a-z0-9_-]{0,127}$";
/** Part of a host name label, which joins it to the slug of the project with `--`. */
const APP_SLUG = "^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$";
/** Part of the names of tools, which is joined with `_`: so it has none itself. */
const CONNECTOR_SLUG = "^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?$";
const PATTERN_MAX = 200;
/** The limit of `src/lib/outbound.ts`. */
const URL_MAX = 2048;
/** An `http:` or `https:` URL without user, query and fragment. */
const URL_SHAPE = "^[hH][tT][tT][pP][sS]?://[^\\s/?#@\\\\\\p{Cc}]+(?:/[^\\s?#\\\\\\p{Cc}]*)?$";
/** Headers that belong to the connection, to the protocol or to the body. */
const OWN_HEADERS =
  "^(?:host|connection|content-.*|transfer-encoding|expect|upgrade|te|trailer|accept|accept-encoding|keep-alive|cookie|mcp-.*)$";

export const flag = kind(
  "true or false",
  { type: "boolean" },
  (value): value is boolean => typeof value === "boolean",
);
export const text = kind("a string", { type: "string" }, isString);
export const reach = kind(
  '"own" or "project"',
  { enum: ["own", "project"] },
  (value): value is "own" | "project" => value === "own" || value === "project",
);
export const mergeMethod = kind(
  MERGE_METHODS.map((each) => `"${each}"`)
    .join(", ")
    .replace(/, (?=[^,]*$)/, " or "),
  { enum: MERGE_METHODS },
  (value): value is MergeMethod => MERGE_METHODS.some((each) => each === value),
);
export const runtime = string(
  `the name of an agent: ${RUNTIME_NAMES.map((each) => `"${each}"`).join(", ")}, or one of the server's own`,
  { pattern: RUNTIME_NAME },
);
export const version = kind("1", { enum: [1] }, (value): value is 1 => value === 1);
export const approvals = kind(
  `a whole number from 0 to ${APPROVALS_MAX}`,
  { type: "integer", minimum: 0, maximum: APPROVALS_MAX },
  (value): value is number => isWhole(value) && value >= 0 && value <= APPROVALS_MAX,
);
export const timeoutMinutes = kind(
  `a whole number of minutes from 1 to ${TIMEOUT_MINUTES_MAX}`,
  { type: "integer", minimum: 1, maximum: TIMEOUT_MINUTES_MAX },
  (value): value is number => isWhole(value) && value >= 1 && value <= TIMEOUT_MINUTES_MAX,
);
export const serviceImage = string('the name of an image, such as "postgres:16"', {
  pattern: IMAGE,
  characters: IMAGE_MAX,
});
export const amount = kind(
  "a number above 0",
  { type: "number", exclusiveMinimum: 0, maximum: AMOUNT_MAX },
  (value): value is number => typeof value === "number" && value > 0 && value <= AMOUNT_MAX,
);
export const port = kind(
  `a port from 1 to 65535, except ${DAEMON_PORT} and ${RUNTIME_PORT}, which svc uses in a sandbox`,
  { type: "integer", minimum: 1, maximum: 65_535, not: { enum: [DAEMON_PORT, RUNTIME_PORT] } },
  (value): value is number =>
    isWhole(value) && value >= 1 && value <= 65_535 && value !== DAEMON_PORT && value !== RUNTIME_PORT,
);
export const name = string(`a name of 1 to ${NAME_MAX} characters`, {
  solid: true,
  characters: NAME_MAX,
});
export const path = string("a path in the repository, without .. and without / at the start or end", {
  pattern: PATH,
  characters: PATH_MAX,
});
export const healthPath = string("a path that starts with /, without spaces and #", {
  pattern: HEALTH_PATH,
  characters: PATH_MAX,
});
export const volume = string(
  `an absolute path of letters, digits, ".", "_" and "-", such as "/data", of at most ${VOLUME_MAX} characters and outside the folders of the system (/etc, /opt, /tmp, /usr, /var, …) and /workspace`,
  { pattern: VOLUME, characters: VOLUME_MAX },
);
export const branchPattern = string(
  "the name of a branch or tag, in which * matches anything except / and ** matches anything",
  { pattern: REF_PATTERN, characters: REF_MAX_BYTES },
);
export const context = string(`the name of a check, of 1 to ${CONTEXT_MAX} characters on one line`, {
  pattern: CONTEXT_PATTERN,
  characters: CONTEXT_MAX,
});
export const triggerSlug = string("1 to 128 characters of a-z, 0-9, - and _, the first a letter or a digit", {
  pattern: TRIGGER_SLUG,
});
export const appSlug = string(
  "1 to 32 characters of a-z, 0-9 and single -, with a letter or a digit at both ends",
  { pattern: APP_SLUG },
);
export const command = string(`a command: a string of at most ${COMMAND_MAX_BYTES} bytes that is not blank`, {
  solid: true,
  bytes: COMMAND_MAX_BYTES,
});
export const variable = string(`a string in quotes, of at most ${SECRET_MAX_BYTES} bytes and without NUL`, {
  bytes: SECRET_MAX_BYTES,
});
export const agent = string(`the name of an agent, of 1 to ${NAME_MAX} characters`, {
  solid: true,
  characters: NAME_MAX,
});

export const model = string(`the name of a model, of 1 to ${NAME_MAX} characters`, {
  solid: true,
  characters: NAME_MAX,
});

const legalName = string("the name of a secret, of A-Z, 0-9 and _", {
  pattern: SECRET_NAME.source,
});
export const secretName: Kind<string> = {
  ...legalName,
  schema: { ...legalName.schema, not: { pattern: RESERVED_NAME.source } },
  fits: (value): value is string => legalName.fits(value) && !isReservedName(value),
  fault: (value) =>
    legalName.fits(value)
      ? `cannot be ${value}, which is reserved for svc or the sandbox`
      : legalName.fault(value),
};

/** The `auth` of a connector that a person connects (OAuth). Secrets have upper-case names. */
export const OAUTH = "oauth";
export const connectorAuth: Kind<string> = {
  expected: `${secretName.expected}, or "oauth"`,
  schema: { anyOf: [{ const: OAUTH }, secretName.schema] },
  fits: (value): value is string => value === OAUTH || secretName.fits(value),
  fault: (value) =>
    legalName.fits(value) ? secretName.fault(value) : `must be ${secretName.expected}, or "${OAUTH}"`,
};

export const triggerType = kind(
  '"cron" or "webhook"',
  { enum: ["cron", "webhook"] },
  (value): value is "cron" | "webhook" => value === "cron" || value === "webhook",
);
export const cron: Kind<string> = {
  fits: (value): value is string => isString(value) && checkCron(value) === null,
  expected: "a schedule",
  fault: (value) => (isString(value) ? checkCron(value) : null) ?? "must be a string",
  schema: { type: "string" },
};
export const timezone = kind(
  'a time zone name, such as "Europe/Berlin"',
  { type: "string" },
  (value): value is string => isString(value) && isTimezone(value),
);

const solidText = string(`a text of at most ${PROMPT_MAX_BYTES} bytes that is not blank`, {
  solid: true,
  bytes: PROMPT_MAX_BYTES,
});
export const prompt: Kind<string> = {
  ...solidText,
  fits: (value): value is string => solidText.fits(value) && openBraces(value) === null,
  fault: (value) =>
    solidText.fits(value)
      ? `has a {{ without }} in line ${openBraces(value)} of the text`
      : solidText.fault(value),
};

export const appAccess = kind(
  '"members" or "public"',
  { enum: ["members", "public"] },
  (value): value is "members" | "public" => value === "members" || value === "public",
);

export const connectorSlug = string(
  "1 to 24 characters of a-z, 0-9 and single -, with a letter or a digit at both ends",
  { pattern: CONNECTOR_SLUG },
);
export const connectorType = kind(
  '"mcp", "openapi" or "http"',
  { enum: ["mcp", "openapi", "http"] },
  (value): value is "mcp" | "openapi" | "http" => value === "mcp" || value === "openapi" || value === "http",
);
export const policyAction = kind(
  '"allow", "ask" or "deny"',
  { enum: ["allow", "ask", "deny"] },
  (value): value is "allow" | "ask" | "deny" => value === "allow" || value === "ask" || value === "deny",
);
export const toolPattern = string(
  `a pattern of 1 to ${PATTERN_MAX} characters, in which * matches anything, such as "get_*" or "GET /repos/*"`,
  { pattern: "^[^\\p{Cc}]+$", characters: PATTERN_MAX },
);
const urlText = string(
  `an http:// or https:// URL of up to ${URL_MAX} characters, without user name, query and fragment`,
  { pattern: URL_SHAPE, characters: URL_MAX },
);
export const url: Kind<string> = {
  ...urlText,
  fits: (value): value is string => urlText.fits(value) && URL.canParse(value),
};
export const spec = kind(
  "a path in the repository, or a URL",
  { type: "string", maxLength: URL_MAX },
  isSpec,
);
export const header = kind(
  "the name of a header that svc does not set itself, such as X-Api-Key",
  { type: "string", pattern: "^[A-Za-z][A-Za-z0-9-]{0,63}$" },
  (value): value is string =>
    isString(value) &&
    /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value) &&
    !new RegExp(OWN_HEADERS, "i").test(value),
);

function isSpec(value: unknown): value is string {
  return url.fits(value) || (path.fits(value) && value !== "." && !/^[a-z]+:/i.test(value));
}

/** @param limits `solid`: not blank. NUL is never valid, because neither an environment nor the database can store it. */
function string(
  expected: string,
  limits: { pattern?: string; solid?: true; characters?: number; bytes?: number },
): Kind<string> {
  const pattern = limits.pattern ?? (limits.solid && "\\S");
  const expression = new RegExp(pattern ?? "", "u");
  const maxLength = limits.characters ?? limits.bytes;
  const schema = {
    type: "string",
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(limits.pattern === undefined ? { not: { pattern: "\\u0000" } } : {}),
  };
  return kind(
    expected,
    schema,
    (value): value is string =>
      isString(value) &&
      value.length <= (maxLength ?? Infinity) &&
      (limits.bytes === undefined || new TextEncoder().encode(value).length <= limits.bytes) &&
      !value.includes("\0") &&
      expression.test(value),
  );
}

function kind<T>(expected: string, schema: Kind<T>["schema"], fits: (value: unknown) => value is T): Kind<T> {
  return { fits, expected, fault: () => `must be ${expected}`, schema };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

const isWhole = (value: unknown): value is number => Number.isInteger(value);
