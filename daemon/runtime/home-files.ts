import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import skill from "../../src/contract/skill.md" with { type: "text" };
import { asAgent, type Children } from "../process/children.ts";
import { run } from "../process/run.ts";
import type { Settings } from "../settings.ts";
import { shellWord } from "../this-program.ts";
import instructions from "./instructions.md" with { type: "text" };
import { agentConfigFolder } from "./write-agent-config.ts";

/** Writing a few small files. */
const WRITE_MS = 15_000;

/** Creates the runtime's home, owned by the runtime's user. */
export async function createHome({ home, user }: Settings): Promise<void> {
  await mkdir(home, { recursive: true });
  if (user) await chown(home, user.uid, user.gid);
}

/**
 * Writes svc's skill and instructions to the home, and links the packages that a project's tools and plugins import,
 * which the runtime would otherwise download from the npm registry at each start. The home and the workspace belong to
 * the agent, so this runs as the agent.
 * @param folders folders that the runtime reads, relative to the workspace
 * @returns whether all files were written
 */
export async function writeHomeFiles(
  { settings, children }: { settings: Settings; children: Children },
  folders: readonly string[],
): Promise<boolean> {
  const { home, workspace, plugins, inherited } = settings;
  const config = join(home, ".config/opencode");
  const path = inherited["PATH"];
  const command = {
    ...asAgent(settings, [
      ...["sh", "-c", SCRIPT, "sh"],
      ...[join(plugins, "node_modules"), PACKAGE, LOCK, workspace, config],
      ...[path ? join(home, ".profile") : "", `PATH=${shellWord(path ?? "")}\nexport PATH\n`],
      ...[join(skillsFolder(settings), "svc/SKILL.md"), skill, instructionsFile(settings), instructions],
      agentConfigFolder(settings),
      ...folders,
    ]),
    environment: { PATH: path ?? "/usr/bin:/bin", HOME: home, LC_ALL: "C" },
    directory: "/",
  };
  const ran = await run(children, command, WRITE_MS).catch(() => null);
  return ran?.code === 0;
}

/** The folder of svc's skill. */
export function skillsFolder({ home }: Pick<Settings, "home">): string {
  return join(home, ".config/opencode/skills");
}

/** The instructions with which each conversation begins. */
export function instructionsFile({ home }: Pick<Settings, "home">): string {
  return join(home, ".config/opencode/svc.md");
}

/** With these two files beside `node_modules`, opencode 1.18 treats the packages as installed. */
const DEPENDENCIES = { dependencies: { "@opencode-ai/plugin": RUNTIME_VERSION } };
const PACKAGE = `${JSON.stringify(DEPENDENCIES)}\n`;
const LOCK = `${JSON.stringify({ lockfileVersion: 3, packages: { "": DEPENDENCIES } })}\n`;

/**
 * The runtime starts commands in a login shell, which resets PATH to the system's: the profile sets the sandbox's PATH,
 * unless the image has a profile. Packages are not linked in a folder that has a package.json of the project. Files that
 * are added to the clone are ignored by git through `.git/info/exclude`.
 */
const SCRIPT = `
modules=$1 package=$2 lock=$3 workspace=$4 config=$5 profile=$6 path=$7 skill=$8
shift 8
text=$1 instructions=$2 content=$3 agents=$4
shift 4
put() {
  mkdir -p -- "\${1%/*}" && printf %s "$2" >"$1.new" && mv -f -- "$1.new" "$1"
}
link() {
  [ -d "$modules" ] || return 0
  [ ! -e "$1/package.json" ] && [ ! -e "$1/node_modules" ] || return 0
  mkdir -p -- "$1" && rm -f -- "$1/node_modules" && ln -s -- "$modules" "$1/node_modules" &&
    put "$1/package-lock.json" "$lock" && put "$1/package.json" "$package"
}
ignore() {
  grep -qxF -- "$2" "$1" 2>/dev/null || printf '%s\\n' "$2" >>"$1"
}
failed=0
[ -z "$profile" ] || [ -e "$profile" ] || put "$profile" "$path" || failed=1
put "$skill" "$text" && put "$instructions" "$content" && link "$config" && link "$agents" || failed=1
for folder; do
  if [ -d "$workspace/.git" ] && mkdir -p -- "$workspace/.git/info"; then
    pattern=/$(printf %s "$folder" | sed 's/[][*?\\\\]/\\\\&/g')
    for name in node_modules package.json package-lock.json bun.lock .gitignore; do
      ignore "$workspace/.git/info/exclude" "$pattern/$name"
    done
  fi
  link "$workspace/$folder" || failed=1
done
exit $failed
`;
