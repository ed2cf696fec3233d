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

/** Makes the runtime's home: its own user's, who works in it from then on. */
export async function createHome({ home, user }: Settings): Promise<void> {
  await mkdir(home, { recursive: true });
  if (user) await chown(home, user.uid, user.gid);
}

/**
 * Lays out in the home what the runtime is to find: svc's skill and instructions, and the packages that a project's own
 * tools and plugins import, which it would otherwise fetch from the npm registry at its start. The home and the workspace
 * are the agent's, so all of it is done as the agent.
 * @param folders of the workspace that the runtime reads, relative to it
 * @returns whether it could be done
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
      ...[join(config, "skills/svc/SKILL.md"), skill, instructionsFile(settings), instructions],
      agentConfigFolder(settings),
      ...folders,
    ]),
    environment: { PATH: path ?? "/usr/bin:/bin", HOME: home, LC_ALL: "C" },
    directory: "/",
  };
  const ran = await run(children, command, WRITE_MS).catch(() => null);
  return ran?.code === 0;
}

/** Where the instructions lie that each conversation begins with. */
export function instructionsFile({ home }: Pick<Settings, "home">): string {
  return join(home, ".config/opencode/svc.md");
}

/** With these two beside `node_modules` the runtime takes the packages for installed (research on opencode 1.18). */
const DEPENDENCIES = { dependencies: { "@opencode-ai/plugin": RUNTIME_VERSION } };
const PACKAGE = `${JSON.stringify(DEPENDENCIES)}\n`;
const LOCK = `${JSON.stringify({ lockfileVersion: 3, packages: { "": DEPENDENCIES } })}\n`;

/**
 * A login shell, as which the runtime starts commands, begins with the system's PATH: the profile gives it the sandbox's
 * again, unless the image brings one of its own. A folder with a package.json of the project's is left to the runtime;
 * what is laid beside the project's files git is told to ignore, outside of the repository's own files.
 */
const SCRIPT = `
modules=$1 package=$2 lock=$3 workspace=$4 config=$5 profile=$6 path=$7 skill=$8
shift 8
text=$1 instructions=$2 said=$3 agents=$4
shift 4
put() {
  mkdir -p -- "\${1%/*}" && printf %s "$2" >"$1.new" && mv -f -- "$1.new" "$1"
}
lay() {
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
put "$skill" "$text" && put "$instructions" "$said" && lay "$config" && lay "$agents" || failed=1
for folder; do
  if [ -d "$workspace/.git" ] && mkdir -p -- "$workspace/.git/info"; then
    pattern=/$(printf %s "$folder" | sed 's/[][*?\\\\]/\\\\&/g')
    for name in node_modules package.json package-lock.json bun.lock .gitignore; do
      ignore "$workspace/.git/info/exclude" "$pattern/$name"
    done
  fi
  lay "$workspace/$folder" || failed=1
done
exit $failed
`;
