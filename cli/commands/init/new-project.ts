import { mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { PROJECT_NAME } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import { gitIn } from "../../git.ts";
import type { Handler } from "../../spec.ts";
import type { System } from "../../system.ts";
import type * as table from "../../table/init.ts";
import { detect } from "./detect/detect.ts";
import { requireNoSandbox, scaffold, writePlanned } from "./init.ts";
import { type Planned, plan } from "./plan.ts";
import { report } from "./report.ts";

const BRANCH = "main";
/** What a new folder needs: nothing. */
const EMPTY = detect([]);
const MESSAGE = "Set up svc";
/** Git may prompt for the passphrase of a signing key, and run hooks. */
const COMMIT_SECONDS = 600;
/** Variables that point git at another repository. */
const GIT_VARIABLES = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
];

/** Spec 4.5: `svc <project-name>`. Creates the folder atomically, under a temporary name. */
export const newProject: Handler<typeof table.newProject> = async (context, { args, flags }) => {
  const { system, out } = context;
  const name = args["project-name"];
  const folder = join(system.cwd, name);
  if (!PROJECT_NAME.test(name)) throw usage(`Unknown command: svc ${name}`, "Run `svc help` for the list.");
  requireNoSandbox(context, `Unknown command: svc ${name}`);
  await consent(context, name, flags);
  await requireFree(folder, name);
  const parent = await realpath(system.cwd);
  const files = await scaffold(context, name, EMPTY);
  const keep = async () => false;
  if (flags["dry-run"]) {
    const planned = await plan(join(parent, name), files, keep);
    return reportNew(context, { root: folder, planned, commit: null });
  }
  const staging = join(parent, `.${name}.svc-${crypto.randomUUID().slice(0, 8)}`);
  try {
    await mkdir(staging);
    const planned = await plan(staging, files, keep);
    await writePlanned(planned);
    const commit = await commitAll(system, staging, out.data.json);
    // replaces an empty folder only
    await rename(staging, folder);
    await reportNew(context, { root: folder, planned, commit });
    await out.note(`Next:\n  cd ${name}\n  svc ship`);
  } catch (error) {
    await rm(staging, { recursive: true, force: true }).catch(() => {});
    if (error instanceof CliError) throw error;
    const code = systemCode(error) ?? "unknown error";
    throw new CliError("file", `${folder} cannot be created (${code}). Nothing was changed.`);
  }
};

/** @throws CliError `usage` without a terminal, `cancelled` */
async function consent(
  context: Context,
  name: string,
  { yes, "dry-run": dryRun }: { yes: boolean; "dry-run": boolean },
): Promise<void> {
  if (yes || dryRun) return;
  if (!context.canAsk()) {
    throw usage(
      `Unknown command: svc ${name}`,
      `Run \`svc help\` for the list. To create a new project in ./${name}: svc ${name} --yes`,
    );
  }
  const { confirm } = await import("../../prompt.ts");
  if (await confirm(`${name} is not a command of svc. Create a new project in ./${name}?`)) return;
  throw new CliError("cancelled", "Cancelled; nothing was changed.", {
    hint: "`svc help` lists the commands.",
  });
}

async function requireFree(folder: string, name: string): Promise<void> {
  try {
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw new CliError("file", `./${name} already exists and is not a readable folder.`);
  }
  throw new CliError("file", `The folder ./${name} is not empty.`, {
    hint: `To set it up: cd ${name} && svc init`,
  });
}

/** @throws CliError `git`, for example without a configured author */
async function commitAll(system: System, folder: string, hidden: boolean): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(system.env).filter(([name]) => !GIT_VARIABLES.includes(name)),
  );
  const git = gitIn({ ...system, env }, folder);
  await git.output("-c", `init.defaultBranch=${BRANCH}`, "init", "--quiet");
  await git.output("add", "--all", "--force");
  const { code, output } = await git.watch(["commit", "--quiet", `--message=${MESSAGE}`], {
    hidden,
    seconds: COMMIT_SECONDS,
  });
  if (code !== 0) {
    throw new CliError(
      "git",
      `Nothing was created: git commit exited with status ${code}.\n${output.trim()}`.trimEnd(),
      {
        hint: "Fix what git reports, then run the command again.",
      },
    );
  }
  return (await git.output("rev-parse", "--verify", "HEAD")).trim();
}

async function reportNew(
  context: Context,
  { root, planned, commit }: { root: string; planned: readonly Planned[]; commit: string | null },
): Promise<void> {
  await report(context, root, planned, commit === null, EMPTY, { branch: BRANCH, commit_sha: commit });
}
