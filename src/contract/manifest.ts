import { parse, TomlDate, TomlError } from "smol-toml";
import { isReservedName, SECRET_NAME } from "./environment.ts";
import { NAME_MAX } from "./limits.ts";
import { lineFinder } from "./manifest-lines.ts";

/** Size of the largest `svc.toml` that svc reads, in bytes: a hundred times a long one. */
export const MANIFEST_MAX_BYTES = 256 * 1024;
/** Most approvals that a project may ask for: more than any team can gather. */
const APPROVALS_MAX = 100;
/** Names in one list: as many secrets as a project may have. */
const NAMES_MAX = 200;
/** Problems that are reported, errors first: nobody reads more before mending the first. */
const PROBLEMS_MAX = 50;
/** Relative, with `/`; `.` alone is the root. No part of it leads up, is empty, or is git's own folder. */
const PATH =
  /^(?:\.|(?!\.{1,2}(?:\/|$)|\.git(?:\/|$))[^/\p{Cc}\\]+(?:\/(?!\.{1,2}(?:\/|$)|\.git(?:\/|$))[^/\p{Cc}\\]+)*)$/iu;
const PATH_MAX = 1024;
/** Processors, or GiB: far more than a machine has. */
const AMOUNT_MAX = 1_000_000;
/** Characters of a key from the file that are repeated. */
const SHOWN_MAX = 64;

/** What a project's `svc.toml` says, with its defaults filled in (contract: Manifest). */
export interface Manifest {
  project: { name: string | null };
  /** Names of the secrets that a sandbox needs, and of those that it can use. */
  env: { required: string[]; optional: string[] };
  /** Folder of the agent runtime's configuration, relative to the repository's root. */
  opencode: { configDir: string };
  /** How to make a sandbox: paths in the repository, numbers of processors and of GiB; null where it does not say. */
  sandbox: {
    dockerfile: string | null;
    context: string;
    cpu: number | null;
    memory: number | null;
    disk: number | null;
  };
  changeRequests: { agentMerge: boolean; directPush: boolean; requiredApprovals: number };
}

/** Spec 4.3. */
const CONFIG_DIR = ".svc/agentrt";

/** One thing that is wrong with a manifest. `path` is the key's, with dots; the names in it are the file's own. */
export interface ManifestError {
  path: string;
  message: string;
  /** From 1; null where nobody can say. */
  line: number | null;
  column: number | null;
  severity: "error" | "warning";
}

type Table = Readonly<Record<string, unknown>>;
interface Kind {
  says: string;
  fits(value: unknown): boolean;
}
type Problem = { path: string[]; message: string; severity: ManifestError["severity"] };

/**
 * Reads a manifest. A bad entry never hides the good ones: it is reported, and counts as the value that allows least.
 * `manifest` is null only for what is not TOML at all.
 */
export function readManifest(text: string): { manifest: Manifest | null; errors: ManifestError[] } {
  let root: Table;
  try {
    root = parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { manifest: null, errors: [notToml(error)] };
  }
  const lineOf = lineFinder(text);
  const problems = problemsOf(root);
  const sorted = ["error", "warning"].flatMap((severity) =>
    problems.filter((problem) => problem.severity === severity),
  );
  const errors = sorted.slice(0, PROBLEMS_MAX).map(({ path, message, severity }) => {
    return { path: nameOf(path), message, line: lineOf(path), column: null, severity };
  });
  return {
    manifest: {
      project: readProject(root),
      env: readEnv(root),
      opencode: readOpencode(root),
      sandbox: readSandbox(root),
      changeRequests: readChangeRequests(root),
    },
    errors,
  };
}

function notToml({ message, line, column }: TomlError): ManifestError {
  const [first = ""] = message.split("\n");
  const reason = first.replace(/^Invalid TOML document: |\.$/g, "");
  return { path: "", message: `The file is not TOML: ${reason}.`, line, column, severity: "error" };
}

const flag: Kind = { says: "true or false", fits: (value) => typeof value === "boolean" };
const text: Kind = { says: "a string", fits: (value) => typeof value === "string" };
const name: Kind = {
  says: `a name of 1 to ${NAME_MAX} characters`,
  fits: (value) => typeof value === "string" && /\S/.test(value) && value.length <= NAME_MAX,
};
const approvals: Kind = {
  says: `a whole number from 0 to ${APPROVALS_MAX}`,
  fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= APPROVALS_MAX,
};
const names: Kind = {
  says: 'a list of names such as ["API_KEY"], of A-Z, 0-9 and _',
  fits: (value) => Array.isArray(value) && value.length <= NAMES_MAX && value.every(isSecretName),
};
const path: Kind = {
  says: 'a path in the repository, such as ".svc/Dockerfile", without ..',
  fits: (value) => typeof value === "string" && PATH.test(value) && value.length <= PATH_MAX,
};
const amount: Kind = {
  says: "a number above 0",
  fits: (value) => typeof value === "number" && value > 0 && value <= AMOUNT_MAX,
};
const version: Kind = { says: "1", fits: (value) => value === 1 };

const TABLES: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  project: { name, description: text },
  env: { required: names, optional: names },
  opencode: { config_dir: path },
  sandbox: { dockerfile: path, context: path, cpu: amount, memory: amount, disk: amount },
  change_requests: { agent_merge: flag, direct_push: flag, required_approvals: approvals },
};
/** Known by name only: what stands in them is read by the features that they configure. */
const UNREAD = new Set(["triggers", "apps"]);

function problemsOf(root: Table): Problem[] {
  const missing: Problem[] = Object.hasOwn(root, "svc_version")
    ? []
    : [
        {
          path: ["svc_version"],
          message: "svc_version is missing: add svc_version = 1.",
          severity: "warning",
        },
      ];
  return missing.concat(
    reservedIn(root),
    Object.entries(root).flatMap(([key, value]) => {
      const kinds = Object.hasOwn(TABLES, key) ? TABLES[key] : undefined;
      if (key === "svc_version") return wrong([key], value, version);
      if (kinds) return isTable(value) ? problemsIn(key, value, kinds) : [notTable(key)];
      return UNREAD.has(key) ? [] : [unknown([key], [...Object.keys(TABLES), ...UNREAD])];
    }),
  );
}

/** Spec 2.8: such a name can never be set as a secret. */
function reservedIn(root: Table): Problem[] {
  const { required, optional } = readEnv(root);
  return [...required, ...optional].filter(isReservedName).map((name) => {
    const message = `env names ${name}, which svc or the sandbox itself uses: it cannot be a secret.`;
    return { path: ["env"], message, severity: "warning" };
  });
}

function problemsIn(key: string, table: Table, kinds: Readonly<Record<string, Kind>>): Problem[] {
  return Object.entries(table).flatMap(([inner, value]) => {
    const kind = Object.hasOwn(kinds, inner) ? kinds[inner] : undefined;
    return kind ? wrong([key, inner], value, kind) : [unknown([key, inner], Object.keys(kinds))];
  });
}

function wrong(path: string[], value: unknown, { says, fits }: Kind): Problem[] {
  return fits(value) ? [] : [{ path, message: `${path.join(".")} has to be ${says}.`, severity: "error" }];
}

const notTable = (key: string): Problem => ({
  path: [key],
  message: `${key} has to be a table: [${key}].`,
  severity: "error",
});

function unknown(path: string[], known: readonly string[]): Problem {
  const message = `${nameOf(path)} is not known here and is ignored. Known: ${known.join(", ")}.`;
  return { path, message, severity: "warning" };
}

const nameOf = (path: readonly string[]): string => path.join(".").slice(0, SHOWN_MAX);

function readProject(root: Table): Manifest["project"] {
  const table = root["project"];
  const value = isTable(table) ? table["name"] : undefined;
  return { name: typeof value === "string" && name.fits(value) ? value : null };
}

/** The good names of a list that holds a bad one still count. */
function readEnv(root: Table): Manifest["env"] {
  const table = root["env"];
  const list = (key: string): string[] => {
    const value = isTable(table) ? table[key] : undefined;
    return Array.isArray(value) ? [...new Set(value.filter(isSecretName))].slice(0, NAMES_MAX) : [];
  };
  const required = list("required");
  return { required, optional: list("optional").filter((name) => !required.includes(name)) };
}

function readOpencode(root: Table): Manifest["opencode"] {
  const table = root["opencode"];
  const value = isTable(table) ? table["config_dir"] : undefined;
  return { configDir: typeof value === "string" && path.fits(value) ? value : CONFIG_DIR };
}

const isSecretName = (value: unknown): value is string =>
  typeof value === "string" && SECRET_NAME.test(value);

function readSandbox(root: Table): Manifest["sandbox"] {
  const table = isTable(root["sandbox"]) ? root["sandbox"] : {};
  const number = (key: string) => (amount.fits(table[key]) ? Number(table[key]) : null);
  const { dockerfile, context } = table;
  return {
    dockerfile: typeof dockerfile === "string" && path.fits(dockerfile) ? dockerfile : null,
    context: typeof context === "string" && path.fits(context) ? context : ".",
    cpu: number("cpu"),
    memory: number("memory"),
    disk: number("disk"),
  };
}

/** What cannot be read must not allow what it may forbid. */
function readChangeRequests(root: Table): Manifest["changeRequests"] {
  const table = root["change_requests"] ?? {};
  if (!isTable(table)) return { agentMerge: false, directPush: false, requiredApprovals: APPROVALS_MAX };
  const { agent_merge = true, direct_push = true, required_approvals = 0 } = table;
  return {
    agentMerge: agent_merge === true,
    directPush: direct_push === true,
    requiredApprovals: approvals.fits(required_approvals) ? Number(required_approvals) : APPROVALS_MAX,
  };
}

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof TomlDate);
