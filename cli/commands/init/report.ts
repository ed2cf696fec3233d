import type { Context } from "../../context.ts";
import { type Column, table } from "../../table-print.ts";
import { oneLine, shellWord } from "../../text.ts";
import { type Detected, titleOf } from "./detect/detect.ts";
import { LOCAL_AGENTS } from "./local-agents.ts";
import type { Action, Planned } from "./plan.ts";

const LIST = new Intl.ListFormat("en-GB", { type: "conjunction" });

/** Reports the action for each file. @param more fields for `--json` */
export async function report(
  { out }: Context,
  root: string,
  planned: readonly Planned[],
  dryRun: boolean,
  { found, setup }: Pick<Detected, "found" | "setup">,
  more: Record<string, string | null> = {},
): Promise<void> {
  const files = planned.map(({ file, action, why }) => ({ path: file.path, action, for: file.for, why }));
  const agents = [...new Set(planned.flatMap(({ file }) => file.for))];
  await out.result(
    { root, files, agents, found: found.map(wireOf), setup, dry_run: dryRun, ...more },
    (view) => table(planned, dryRun ? [WOULD, ...COLUMNS] : [DONE, ...COLUMNS], view),
  );
  if (agents.length === 0) {
    await out.note(`No coding agent was found on this machine (${LIST.format(LOCAL_AGENTS)}).`);
  }
}

function wireOf({ name, version, folder, because, setup }: Detected["found"][number]) {
  return { name, version, folder, because, setup };
}

/** What was found, why, and what follows from it. */
export function foundText({ found, setup, devcontainer }: Omit<Detected, "image">): string {
  if (found.length === 0 && devcontainer === null)
    return "No language was recognized: add what the project needs to the Dockerfile, and a setup command to svc.toml.";
  const image = devcontainer === null ? [] : [`the image of ${devcontainer}, instead of a Dockerfile`];
  const otherwise = devcontainer === null ? "nothing to install" : `that of ${devcontainer}`;
  const lines = [...image, ...found.map(titleOf), `setup: ${setup ?? otherwise}`];
  return ["Found:", ...lines.map((line) => `  ${oneLine(line)}`)].join("\n");
}

const PLANS: Readonly<Record<Action, string>> = {
  wrote: "would write",
  replaced: "would replace",
  unchanged: "unchanged",
  kept: "would keep",
  skipped: "would skip",
};

const DONE: Column<Planned> = {
  title: "",
  value: ({ action }) => action,
  paint: ({ action }, { paint }) =>
    action === "wrote" || action === "replaced"
      ? paint.green
      : action === "skipped"
        ? paint.yellow
        : paint.dim,
};
const WOULD: Column<Planned> = { ...DONE, value: ({ action }) => PLANS[action] };
const COLUMNS: Column<Planned>[] = [
  { title: "FILE", value: ({ file }) => file.path },
  { title: "", value: ({ file, why }) => why ?? (file.for.length > 0 ? `for ${LIST.format(file.for)}` : "") },
];

/** The next commands: svc reads only the default branch. */
export function nextSteps({
  planned,
  isBelow,
  isRepository,
}: {
  planned: readonly Planned[];
  isBelow: boolean;
  isRepository: boolean;
}): string {
  const written = planned.filter(({ action }) => action === "wrote" || action === "replaced");
  if (written.length === 0) return "Everything is up to date. Next: svc ship";
  const tops = [...new Set(written.map(({ file }) => file.path.split("/")[0] ?? file.path))];
  // `:/` makes a path relative to the top of the repository
  const paths = tops.map((top) => shellWord(isBelow ? `:/${top}` : top));
  return [
    "Next:",
    ...(isRepository ? [] : ["  git init --initial-branch main"]),
    `  git add ${paths.join(" ")}`,
    '  git commit -m "Set up svc"',
    "  svc ship",
  ].join("\n");
}
