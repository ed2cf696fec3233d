import type { UpdatedBranch } from "../../../src/contract/change-request-update.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-session.ts";
import { findCr } from "./reference.ts";

export const updateBranch: Handler<typeof table.updateBranch> = async (context, { args }) => {
  const { api, path } = await findCr(context, args.cr);
  const call = { method: "POST", path: `${path}/update-branch`, body: {}, slow: true } as const;
  const result = await api.call<UpdatedBranch>(call);
  const [head, base] = [result.head_commit_sha, result.base_commit_sha].map((sha) => sha.slice(0, 10));
  await context.out.result(result, () =>
    result.updated
      ? `Merged ${base} of the base branch; the head branch is at ${head}.\n`
      : `The branch is up to date: it has every commit of its base, up to ${base}.\n`,
  );
};
