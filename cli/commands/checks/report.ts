import type { CommitStatus } from "../../../src/contract/commit-status.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { gitIn } from "../../git.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/checks.ts";
import { oneLine } from "../../text.ts";

export const report: Handler<typeof table.report> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const sha = await commitOf(context, flags.sha);
  const status = await api.call<CommitStatus>({
    method: "POST",
    path: path`/projects/${id}/statuses/${sha}`,
    body: {
      state: args.state,
      context: args.name,
      ...(flags.description !== undefined && { description: flags.description }),
      ...(flags.url !== undefined && { target_url: flags.url }),
    },
    slow: true,
  });
  await context.out.result(
    status,
    () => `Reported ${oneLine(status.context)} as ${status.state} for ${status.sha.slice(0, 10)}.\n`,
  );
};

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

/** The full id of a commit: the given one, or the one that is checked out. @throws CliError `usage`, `git` */
export async function commitOf({ system }: Context, given: string | undefined): Promise<string> {
  if (given === undefined)
    return (await gitIn(system, system.cwd).output("rev-parse", "--verify", "HEAD^{commit}")).trim();
  if (COMMIT.test(given)) return given.toLowerCase();
  throw usage(
    `Not a full commit id: ${oneLine(given).slice(0, 100)}`,
    "Give all of its digits, as `git rev-parse HEAD` prints them.",
  );
}
