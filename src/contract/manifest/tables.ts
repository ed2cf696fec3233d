import type { EgressPolicy } from "../egress/policy.ts";
import { DEFAULT_RUNTIME } from "../runtimes.ts";
import { SETUP_MINUTES } from "../setup.ts";
import { appsShape } from "./apps.ts";
import { type ChangeRequestRules, changeRequestsShape, readChangeRequests } from "./change-requests.ts";
import { checksShape, readRequiredChecks } from "./checks.ts";
import { connectorSecrets, connectorsShape } from "./connectors.ts";
import * as kinds from "./kinds.ts";
import { type MergeRules, mergeShape, readMerge } from "./merge.ts";
import { networkShape, readNetwork } from "./network.ts";
import { isSecretName, type Path, type Problem, type Table, type TableShape, wrong } from "./shape.ts";
import { triggersShape } from "./triggers.ts";
import { stringOf, tableOf } from "./values.ts";

/** The single tables of a manifest, with their defaults. */
export interface Tables {
  project: { name: string | null };
  /** Names of the secrets that a sandbox requires, and of those that it can use. */
  env: { required: string[]; optional: string[] };
  /** Configuration folder of the agent runtime, relative to the root of the repository. */
  opencode: { configDir: string };
  /** How to build a sandbox: paths in the repository, processors and GiB; null if not set. */
  sandbox: {
    dockerfile: string | null;
    context: string;
    cpu: number | null;
    memory: number | null;
    disk: number | null;
    /** The agent of sessions that do not choose one. */
    runtime: string;
    /** The command that prepares the workspaces of sessions, and its time limit. */
    setup: string | null;
    setupMinutes: number;
    /** Images of containers beside the sandbox. */
    services: string[];
  };
  /** What sandboxes may connect to. */
  network: EgressPolicy;
  changeRequests: ChangeRequestRules;
  merge: MergeRules;
  /** Contexts of the commit statuses that a merge requires. */
  checks: { required: string[] };
  /** Which sessions an agent can access: its own and those that it started, or all of the project. */
  agents: { reach: "own" | "project" };
  /** Patterns of protected branches in addition to the default branch: `*` matches anything except `/`, `**` anything. */
  branches: { protected: string[] };
  tags: { protected: string[] };
  /** Names of the secrets that only the server's connectors use, those of invalid connectors included. */
  connectorSecrets: string[];
}

/** Spec 4.3. */
const CONFIG_DIR = ".svc/agentrt";
/** Names in one list: the limit of secrets in a project. */
const NAMES_MAX = 200;
/** Each takes as much memory as a small sandbox. */
const SERVICES_MAX = 4;
/** Patterns in one list. */
const PATTERNS_MAX = 100;

/** The format of a manifest. The check, the JSON Schema and the reference of keys are derived from it. */
export const manifestShape: TableShape = {
  is: "table",
  about: "The manifest of a project: svc.toml, at the root of its repository.",
  fields: {
    svc_version: {
      is: "value",
      kind: kinds.version,
      example: 1,
      about: "The version of this format.",
      need: "wanted",
    },
    project: {
      is: "table",
      about: "The project itself.",
      fields: {
        name: { is: "value", kind: kinds.name, about: "Its name, when `svc ship` creates it." },
        description: { is: "value", kind: kinds.text, about: "A description for people." },
      },
    },
    env: {
      is: "table",
      about: "The names of the secrets that its sandboxes get. Set their values with `svc secrets set`.",
      fields: {
        required: { is: "names", namesMax: NAMES_MAX, about: "Secrets that must be set." },
        optional: { is: "names", namesMax: NAMES_MAX, about: "Secrets that are optional." },
      },
    },
    sandbox: {
      is: "table",
      about: "How to build its sandboxes.",
      fields: {
        dockerfile: {
          is: "value",
          kind: kinds.path,
          fallback: ".svc/Dockerfile",
          about: "The Dockerfile of their image. The default file may be missing.",
        },
        context: { is: "value", kind: kinds.path, fallback: ".", about: "The build context." },
        cpu: { is: "value", kind: kinds.amount, about: "Processors." },
        memory: { is: "value", kind: kinds.amount, about: "GiB of memory." },
        disk: { is: "value", kind: kinds.amount, about: "GiB of disk." },
        runtime: {
          is: "value",
          kind: kinds.runtime,
          fallback: DEFAULT_RUNTIME,
          about: "The agent of sessions that do not choose one. The server must have it.",
        },
        setup: {
          is: "value",
          kind: kinds.command,
          about: "A shell command that runs in the workspace of each session before its agent starts.",
        },
        setup_timeout_minutes: {
          is: "value",
          kind: kinds.timeoutMinutes,
          fallback: SETUP_MINUTES,
          about: "The time limit of `setup`.",
        },
        services: {
          is: "values",
          kind: kinds.serviceImage,
          valuesMax: SERVICES_MAX,
          about: "Images of services that run beside the sandboxes of sessions and checks. Only in Docker.",
        },
      },
      problemsOf: problemsOfSandbox,
    },
    network: networkShape,
    opencode: {
      is: "table",
      about: "The agent runtime.",
      fields: {
        config_dir: {
          is: "value",
          kind: kinds.path,
          fallback: CONFIG_DIR,
          about: "The folder of its configuration: agents, skills and tools.",
        },
      },
    },
    change_requests: changeRequestsShape,
    merge: mergeShape,
    checks: checksShape,
    agents: {
      is: "table",
      about: "The agents of its sessions.",
      fields: {
        reach: {
          is: "value",
          kind: kinds.reach,
          fallback: "own",
          about:
            "Which sessions' sandboxes, logs and prompts an agent can access: `own` (its own session and those that it started) or `project` (all).",
        },
      },
    },
    branches: {
      is: "table",
      about: "Protected branches, in addition to the default branch.",
      fields: {
        protected: {
          is: "values",
          kind: kinds.branchPattern,
          valuesMax: PATTERNS_MAX,
          about: "Branches that cannot be rewritten or deleted, and that agents cannot push to.",
        },
      },
    },
    tags: {
      is: "table",
      about: "Protected tags.",
      fields: {
        protected: {
          is: "values",
          kind: kinds.branchPattern,
          valuesMax: PATTERNS_MAX,
          about: "Tags that only people can create, and only an owner or admin can move or delete.",
        },
      },
    },
    triggers: triggersShape,
    apps: appsShape,
    connectors: connectorsShape,
  },
};

/** A build can read only its context. */
function problemsOfSandbox(sandbox: Table, path: Path): Problem[] {
  const [dockerfile, context] = [pathOf(sandbox, "dockerfile"), pathOf(sandbox, "context") ?? "."];
  if (dockerfile === null || context === "." || dockerfile.startsWith(`${context}/`)) return [];
  return [wrong([...path, "dockerfile"], `must be below its context, ${JSON.stringify(context)}`)];
}

/** Reads the valid values of the single tables. */
export function readTables(root: Table): Tables {
  return {
    project: readProject(root),
    env: readEnv(root),
    opencode: { configDir: pathOf(tableOf(root, "opencode"), "config_dir") ?? CONFIG_DIR },
    sandbox: readSandbox(root),
    network: readNetwork(root),
    changeRequests: readChangeRequests(root),
    merge: readMerge(root),
    checks: { required: readRequiredChecks(root) },
    agents: { reach: tableOf(root, "agents")["reach"] === "project" ? "project" : "own" },
    branches: { protected: readPatterns(root, "branches") },
    tags: { protected: readPatterns(root, "tags") },
    connectorSecrets: connectorSecrets(root),
  };
}

function readProject(root: Table): Tables["project"] {
  const name = stringOf(tableOf(root, "project"), "name");
  return { name: kinds.name.fits(name) ? name : null };
}

/** Keeps the valid names of a list. */
function readEnv(root: Table): Tables["env"] {
  const env = tableOf(root, "env");
  const list = (key: string): string[] => {
    const value = Object.hasOwn(env, key) ? env[key] : [];
    return Array.isArray(value) ? [...new Set(value.slice(0, NAMES_MAX).filter(isSecretName))] : [];
  };
  const required = list("required");
  return { required, optional: list("optional").filter((name) => !required.includes(name)) };
}

function readSandbox(root: Table): Tables["sandbox"] {
  const sandbox = tableOf(root, "sandbox");
  const number = (key: string) => {
    const value = Object.hasOwn(sandbox, key) ? sandbox[key] : null;
    return kinds.amount.fits(value) ? value : null;
  };
  return {
    dockerfile: pathOf(sandbox, "dockerfile"),
    context: pathOf(sandbox, "context") ?? ".",
    cpu: number("cpu"),
    memory: number("memory"),
    disk: number("disk"),
    runtime: kinds.runtime.fits(sandbox["runtime"]) ? sandbox["runtime"] : DEFAULT_RUNTIME,
    setup: kinds.command.fits(sandbox["setup"]) ? sandbox["setup"] : null,
    setupMinutes: kinds.timeoutMinutes.fits(sandbox["setup_timeout_minutes"])
      ? sandbox["setup_timeout_minutes"]
      : SETUP_MINUTES,
    services: readServices(sandbox),
  };
}

/** Keeps the valid ones. */
function readServices({ services: list }: Table): string[] {
  return Array.isArray(list) ? [...new Set(list.slice(0, SERVICES_MAX).filter(kinds.serviceImage.fits))] : [];
}

function pathOf(table: Table, key: string): string | null {
  const value = stringOf(table, key);
  return kinds.path.fits(value) ? value : null;
}

/** Keeps the valid patterns of a list. */
function readPatterns(root: Table, key: "branches" | "tags"): string[] {
  const list = tableOf(root, key)["protected"];
  return Array.isArray(list)
    ? [...new Set(list.slice(0, PATTERNS_MAX).filter(kinds.branchPattern.fits))]
    : [];
}
