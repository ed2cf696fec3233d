import { appsShape } from "./apps.ts";
import * as kinds from "./kinds.ts";
import {
  isSecretName,
  isTable,
  type Path,
  type Problem,
  type Table,
  type TableShape,
  wrong,
} from "./shape.ts";
import { triggersShape } from "./triggers.ts";
import { stringOf, tableOf } from "./values.ts";

/** The tables of which a manifest has one each, with their defaults. */
export interface Tables {
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
  changeRequests: {
    agentMerge: boolean;
    directPush: boolean;
    requiredApprovals: number;
    selfApproval: boolean;
  };
  /** Which sessions an agent reaches: its own and those that it started, or all of the project's. */
  agents: { reach: "own" | "project" };
  /** Patterns of what is protected beside the default branch: `*` stands for anything but `/`, `**` for anything. */
  branches: { protected: string[] };
  tags: { protected: string[] };
}

/** Spec 4.3. */
const CONFIG_DIR = ".svc/agentrt";
/** Names in one list: as many secrets as a project may have. */
const NAMES_MAX = 200;
/** Patterns in one list. */
const PATTERNS_MAX = 100;

/** All that a manifest may say. The check, the JSON Schema and its page all follow this. */
export const manifestShape: TableShape = {
  is: "table",
  about: "What runs in a project: svc.toml, at the root of its repository.",
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
        name: { is: "value", kind: kinds.name, about: "Its name, when `svc ship` makes it." },
        description: { is: "value", kind: kinds.text, about: "What it is, for people." },
      },
    },
    env: {
      is: "table",
      about:
        "The secrets that its sandboxes are given, by name. Their values are set with `svc secrets set`.",
      fields: {
        required: { is: "names", namesMax: NAMES_MAX, about: "Those that have to be set." },
        optional: { is: "names", namesMax: NAMES_MAX, about: "Those that are of use." },
      },
    },
    sandbox: {
      is: "table",
      about: "How its sandboxes are made.",
      fields: {
        dockerfile: {
          is: "value",
          kind: kinds.path,
          fallback: ".svc/Dockerfile",
          about: "What their image is built from; it may be missing where this is not said.",
        },
        context: { is: "value", kind: kinds.path, fallback: ".", about: "The folder that the build sees." },
        cpu: { is: "value", kind: kinds.amount, about: "Processors." },
        memory: { is: "value", kind: kinds.amount, about: "GiB of memory." },
        disk: { is: "value", kind: kinds.amount, about: "GiB of disk." },
      },
      problemsOf: problemsOfSandbox,
    },
    opencode: {
      is: "table",
      about: "The agent runtime.",
      fields: {
        config_dir: {
          is: "value",
          kind: kinds.path,
          fallback: CONFIG_DIR,
          about: "The folder of its configuration: agents, skills, tools.",
        },
      },
    },
    change_requests: {
      is: "table",
      about: "The rules of change requests.",
      fields: {
        agent_merge: {
          is: "value",
          kind: kinds.flag,
          fallback: false,
          about: "Whether agents may merge what changes neither this file nor the agents' configuration.",
        },
        direct_push: {
          is: "value",
          kind: kinds.flag,
          fallback: true,
          about: "Whether people may push the protected branches.",
        },
        required_approvals: {
          is: "value",
          kind: kinds.approvals,
          fallback: 0,
          about: "Approvals that a change request needs before it is merged.",
        },
        self_approval: {
          is: "value",
          kind: kinds.flag,
          fallback: false,
          about: "Whether the approval of the person for whom it was opened counts.",
        },
      },
    },
    agents: {
      is: "table",
      about: "The agents of its sessions.",
      fields: {
        reach: {
          is: "value",
          kind: kinds.reach,
          fallback: "own",
          about:
            "Whose sandboxes, logs and prompts an agent reaches: of its own session and of those that it started, or of all.",
        },
      },
    },
    branches: {
      is: "table",
      about: "The branches that are protected, beside the default one.",
      fields: {
        protected: {
          is: "values",
          kind: kinds.branchPattern,
          valuesMax: PATTERNS_MAX,
          about: "Nobody rewrites or deletes them, and agents do not push them.",
        },
      },
    },
    tags: {
      is: "table",
      about: "The tags that are protected.",
      fields: {
        protected: {
          is: "values",
          kind: kinds.branchPattern,
          valuesMax: PATTERNS_MAX,
          about: "A person makes them; only an owner or admin moves or deletes them.",
        },
      },
    },
    triggers: triggersShape,
    apps: appsShape,
  },
};

/** A build sees its context alone. */
function problemsOfSandbox(sandbox: Table, path: Path): Problem[] {
  const [dockerfile, context] = [pathOf(sandbox, "dockerfile"), pathOf(sandbox, "context") ?? "."];
  if (dockerfile === null || context === "." || dockerfile.startsWith(`${context}/`)) return [];
  return [wrong([...path, "dockerfile"], `has to be below its context, ${JSON.stringify(context)}`)];
}

/** What of the single tables is good. */
export function readTables(root: Table): Tables {
  return {
    project: readProject(root),
    env: readEnv(root),
    opencode: { configDir: pathOf(tableOf(root, "opencode"), "config_dir") ?? CONFIG_DIR },
    sandbox: readSandbox(root),
    changeRequests: readChangeRequests(root),
    agents: { reach: tableOf(root, "agents")["reach"] === "project" ? "project" : "own" },
    branches: { protected: readPatterns(root, "branches") },
    tags: { protected: readPatterns(root, "tags") },
  };
}

function readProject(root: Table): Tables["project"] {
  const name = stringOf(tableOf(root, "project"), "name");
  return { name: kinds.name.fits(name) ? name : null };
}

/** The good names of a list that holds a bad one still count. */
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
  };
}

function pathOf(table: Table, key: string): string | null {
  const value = stringOf(table, key);
  return kinds.path.fits(value) ? value : null;
}

/** What cannot be read must not allow what it may forbid. */
function readChangeRequests(root: Table): Tables["changeRequests"] {
  const most = kinds.APPROVALS_MAX;
  const table = root["change_requests"] ?? {};
  if (!isTable(table))
    return { agentMerge: false, directPush: false, requiredApprovals: most, selfApproval: false };
  const { agent_merge = false, direct_push = true, required_approvals = 0, self_approval = false } = table;
  return {
    agentMerge: agent_merge === true,
    directPush: direct_push === true,
    requiredApprovals: kinds.approvals.fits(required_approvals) ? required_approvals : most,
    selfApproval: self_approval === true,
  };
}

/** The good patterns of a list that holds a bad one still count. */
function readPatterns(root: Table, key: "branches" | "tags"): string[] {
  const list = tableOf(root, key)["protected"];
  return Array.isArray(list)
    ? [...new Set(list.slice(0, PATTERNS_MAX).filter(kinds.branchPattern.fits))]
    : [];
}
