import { dirname, normalize } from "node:path/posix";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { readManifest } from "../../../src/contract/manifest/manifest.ts";
import skill from "../../../src/contract/skill.md" with { type: "text" };
import agent from "./agent.md" with { type: "text" };
import preview from "./preview.ts.txt" with { type: "text" };
import dockerfile from "./project.dockerfile" with { type: "text" };

/** A file that `svc init` writes. */
export interface ScaffoldFile {
  /** Below the top of the repository, with `/`. */
  path: string;
  text: string;
  /** The local coding agents that it is for; none: it is the project's own, which nothing may stand in the way of. */
  for: readonly string[];
}

/** The agent of sessions that name no other. */
const AGENT = "developer";
/** Where it is said what runs in a repository; by default, where the rest is (contract: Manifest). */
export const MANIFEST = "svc.toml";
const CONFIG_DIR = ".svc/agentrt";
const DOCKERFILE = ".svc/Dockerfile";

interface Places {
  configDir: string;
  dockerfile: string;
}

/**
 * What a repository is set up with (spec 4.5, "Install and scaffold").
 * @param folder its name
 * @param there the manifest that it has, whose folders are used; empty: none
 */
export function projectFiles(folder: string, there: string): ScaffoldFile[] {
  const has = readManifest(there).manifest;
  const places = {
    configDir: has?.opencode.configDir ?? CONFIG_DIR,
    dockerfile: has?.sandbox.dockerfile ?? DOCKERFILE,
  };
  const files = {
    [MANIFEST]: manifest(folder, places),
    ".svc/.gitignore": IGNORED,
    [places.dockerfile]: dockerfile,
    [`${places.configDir}/opencode.json`]: RUNTIME_CONFIG,
    [`${places.configDir}/agents/${AGENT}.md`]: agent,
    [`${places.configDir}/skills/svc/SKILL.md`]: skill,
    [`${places.configDir}/tools/preview.ts`]: preview,
  };
  return Object.entries(files).map(([path, text]) => ({ path: normalize(path), text, for: [] }));
}

/** The skill for the agents that work on a person's own machine. @param folder of their skills */
export function skillFile(folder: string, agents: readonly string[]): ScaffoldFile {
  return { path: `${folder}/svc/SKILL.md`, text: skill, for: agents };
}

/** The link says which host and project this one clone is for: another clone's is another. */
const IGNORED = "link.json\n";

/** Without `$schema` the runtime would write it into the file. */
const RUNTIME_CONFIG = `${JSON.stringify(
  { $schema: "https://opencode.ai/config.json", default_agent: AGENT },
  null,
  2,
)}\n`;

function manifest(folder: string, { configDir, dockerfile }: Places): string {
  const name = /[\p{L}\p{N}]/u.test(folder) ? folder.replace(/\p{C}/gu, "").slice(0, NAME_MAX) : "project";
  return `# What svc has to know of this repository. Only what the default branch says counts.
svc_version = 1

[project]
name = ${JSON.stringify(name)}

# The environment variables that sessions need. Set them with: svc secrets set API_KEY=-
[env]
required = []
optional = []

# The image of sandboxes in Docker, and what each of them may use (memory and disk in GiB).
[sandbox]
dockerfile = ${JSON.stringify(dockerfile)}
context = ${JSON.stringify(dirname(dockerfile))} # "." if the Dockerfile copies files of the repository: each merge builds it again then
# cpu = 2
# memory = 4
# disk = 20

# The folder of agents, skills and tools.
[opencode]
config_dir = ${JSON.stringify(configDir)}

# [change_requests]
# agent_merge = false        # only people merge
# required_approvals = 1
# [branches]
# protected = ["release/*"]

# A session every Monday at nine:
# [[triggers]]
# slug = "update-dependencies"
# type = "cron"
# cron = "0 9 * * 1"
# timezone = "Europe/Berlin"
# agent = "${AGENT}"
# prompt = "Update the dependencies, run the tests, and open a change request."
`;
}
