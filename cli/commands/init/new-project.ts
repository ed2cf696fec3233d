import { mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { PROJECT_NAME } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import { gitIn } from "../../git.ts";
import type { Handler } from "../../spec.ts";
import type { System } from "../../system.ts";
import type * as table from "../../table/init.ts";
import { scaffold, writePlanned } from "./init.ts";
import { type Planned, plan } from "./plan.ts";
import { report } from "./report.ts";

const BRANCH = "main";
const MESSAGE = "Set up svc";
/** A person may be asked for the passphrase of a signing key, and hooks of theirs may run. */
const COMMIT_SECONDS = 600;
/** They would have git work in another repository than the new one. */
const OF_ANOTHER = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];

/** Spec 4.5: `svc <project-name>`. The folder is there whole, or not at all: it is made beside its place. */
export const newProject: Handler<typeof table.newProject> = async (context, { args, flags }) => {
  const { system, out } = context;
  const name = args["project-name"];
  const folder = join(system.cwd, name);
  if (!PROJECT_NAME.test(name)) throw usage(`Unknown command: svc ${name}`, "Run `svc help` for the list.");
  await consent(context, name, flags);
  await requireRoom(folder, name);
  const parent = await realpath(system.cwd);
  const files = await scaffold(context, name);
  const keep = async () => false;
  if (flags["dry-run"]) {
    const planned = await plan(join(parent, name), files, keep);
    return tell(context, { root: folder, planned, commit: null });
  }
  const staging = join(parent, `.${name}.svc-${crypto.randomUUID().slice(0, 8)}`);
  try {
    await mkdir(staging);
    const planned = await plan(staging, files, keep);
    await writePlanned(planned);
    const commit = await commitAll(system, staging, out.data.json);
    // takes the place of an empty folder, and of no other
    await rename(staging, folder);
    await tell(context, { root: folder, planned, commit });
    await out.note(`Next:\n  cd ${name}\n  svc ship`);
  } catch (error) {
    await rm(staging, { recursive: true, force: true }).catch(() => {});
    if (error instanceof CliError) throw error;
    const code = systemCode(error) ?? "unknown error";
    throw new CliError("file", `${folder} cannot be made (${code}). Nothing was changed.`);
  }
};

/** @throws CliError `usage` where nobody can be asked, `cancelled` */
async function consent(
  context: Context,
  name: string,
  { yes, "dry-run": dryRun }: { yes: boolean; "dry-run": boolean },
): Promise<void> {
  if (yes || dryRun) return;
  if (!context.canAsk()) {
    throw usage(
      `Unknown command: svc ${name}`,
      `Run \`svc help\` for the list. To make a new project in ./${name}: svc ${name} --yes`,
    );
  }
  const { confirm } = await import("../../prompt.ts");
  if (await confirm(`${name} is no command of svc. Make a new project in ./${name}?`)) return;
  throw new CliError("cancelled", "Cancelled; nothing was changed.", {
    hint: "`svc help` lists the commands.",
  });
}

async function requireRoom(folder: string, name: string): Promise<void> {
  try {
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw new CliError("file", `./${name} is there, and is no folder that can be used.`);
  }
  throw new CliError("file", `The folder ./${name} has something in it already.`, {
    hint: `To set it up as it is: cd ${name} && svc init`,
  });
}

/** @throws CliError `git`, as without a name to commit by */
async function commitAll(system: System, folder: string, hidden: boolean): Promise<string> {
  const env = Object.fromEntries(Object.entries(system.env).filter(([name]) => !OF_ANOTHER.includes(name)));
  const git = gitIn({ ...system, env }, folder);
  await git.tell("-c", `init.defaultBranch=${BRANCH}`, "init", "--quiet");
  await git.tell("add", "--all", "--force");
  const { code, words } = await git.watch(["commit", "--quiet", `--message=${MESSAGE}`], {
    hidden,
    seconds: COMMIT_SECONDS,
  });
  if (code !== 0) {
    throw new CliError("git", `Nothing was made: git commit ended with ${code}.\n${words.trim()}`.trimEnd(), {
      hint: "Mend what git says, then run the command again.",
    });
  }
  return (await git.tell("rev-parse", "--verify", "HEAD")).trim();
}

async function tell(
  context: Context,
  { root, planned, commit }: { root: string; planned: readonly Planned[]; commit: string | null },
): Promise<void> {
  await report(context, root, planned, commit === null, { branch: BRANCH, commit_sha: commit });
}
