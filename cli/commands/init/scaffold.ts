import { dirname, normalize } from "node:path/posix";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { readManifest } from "../../../src/contract/manifest/manifest.ts";
import skill from "../../../src/contract/skill.md" with { type: "text" };
import { oneLine } from "../../text.ts";
import { IGNORED } from "../projects/ignore-link.ts";
import agent from "./agent.md" with { type: "text" };
import type { Detected } from "./detect/detect.ts";
import preview from "./preview.ts.txt" with { type: "text" };
import dockerfile from "./project.dockerfile" with { type: "text" };

/** A file that `svc init` writes. */
export interface ScaffoldFile {
  /** Below the top of the repository, with `/`. */
  path: string;
  text: string;
  /** The local coding agents that it is for; empty for the project's own files, which are required. */
  for: readonly string[];
  /** It holds settings of other programs, too: an existing one is never replaced. */
  isShared?: true;
}

/** The default agent of sessions. */
const AGENT = "developer";
/** The manifest, and the default paths of the other files (contract: Manifest). */
export const MANIFEST = "svc.toml";
const CONFIG_DIR = ".svc/agentrt";
const DOCKERFILE = ".svc/Dockerfile";

interface ScaffoldPaths {
  configDir: string;
  dockerfile: string;
}

/**
 * The files that set up a repository (spec 4.5, "Install and scaffold").
 * @param folder the repository's folder name
 * @param detected what the repository needs
 * @param existing the existing manifest, whose paths are used; empty if none
 */
export function projectFiles(folder: string, existing: string, detected: Detected): ScaffoldFile[] {
  const has = readManifest(existing).manifest;
  const paths = {
    configDir: has?.opencode.configDir ?? CONFIG_DIR,
    dockerfile: has?.sandbox.dockerfile ?? DOCKERFILE,
  };
  // svc prefers a Dockerfile to a devcontainer.json
  const hasDockerfile = detected.devcontainer === null || has?.sandbox.dockerfile != null;
  const files = {
    [MANIFEST]: manifest(folder, paths, hasDockerfile, detected.setup),
    ".svc/.gitignore": IGNORED,
    ...(hasDockerfile && { [paths.dockerfile]: dockerfileFor(detected) }),
    [`${paths.configDir}/opencode.json`]: RUNTIME_CONFIG,
    [`${paths.configDir}/agents/${AGENT}.md`]: agent,
    [`${paths.configDir}/skills/svc/SKILL.md`]: skill,
    [`${paths.configDir}/tools/preview.ts`]: preview,
  };
  return Object.entries(files).map(([path, text]) => ({ path: normalize(path), text, for: [] }));
}

/** The skill for coding agents on the user's machine. @param folder their skills folder */
export function skillFile(folder: string, agents: readonly string[]): ScaffoldFile {
  return { path: `${folder}/svc/SKILL.md`, text: skill, for: agents };
}

/** Settings by which a coding agent on this machine starts `svc mcp`. */
export function toolFile(path: string, agents: readonly string[]): ScaffoldFile {
  const text = `${JSON.stringify({ mcpServers: { svc: { command: "svc", args: ["mcp"] } } }, null, 2)}\n`;
  return { path, text, for: agents, isShared: true };
}

/** Has `$schema`, because the runtime adds it otherwise. */
const RUNTIME_CONFIG = `${JSON.stringify(
  { $schema: "https://opencode.ai/config.json", default_agent: AGENT },
  null,
  2,
)}\n`;

/** Its own base has what languages build with. */
function dockerfileFor({ image }: Detected): string {
  if (image.length === 0) return dockerfile;
  const base = dockerfile.replace(BASE, "FROM buildpack-deps:bookworm");
  return `${base}${image.map((line) => `${oneLine(line)}\n`).join("")}`;
}

/** The base of the template, with the comment before it. */
const BASE = /#\n# For a language, .*\nFROM .*/;

function manifest(
  folder: string,
  { configDir, dockerfile }: ScaffoldPaths,
  hasDockerfile: boolean,
  setup: string | null,
): string {
  const name = /[\p{L}\p{N}]/u.test(folder) ? folder.replace(/\p{C}/gu, "").slice(0, NAME_MAX) : "project";
  return `# Settings of svc for this repository. svc reads this file on the default branch only.
svc_version = 1

[project]
name = ${JSON.stringify(name)}

# The environment variables of sessions. Set them with: svc secrets set API_KEY=-
[env]
required = []
optional = []

# The image of sandboxes in Docker, and the limits of each sandbox (memory and disk in GiB).
[sandbox]
${hasDockerfile ? imageLines(dockerfile) : "# The image is that of devcontainer.json: a dockerfile here would replace it."}
# Prepares the workspace of each session before its agent starts; what it adds is kept for later sessions.
${setup === null ? '# setup = "make deps"' : `setup = ${JSON.stringify(setup)}`}
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

function imageLines(dockerfile: string): string {
  return `dockerfile = ${JSON.stringify(dockerfile)}
context = ${JSON.stringify(dirname(dockerfile))} # "." if the Dockerfile copies files of the repository; then each merge rebuilds the image`;
}
