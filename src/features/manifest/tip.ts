import { SvcError } from "../../contract/errors.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** The commit of the default branch in a listing. @throws branch_missing */
export function tipOf({ defaultBranch }: ProjectRow, { tips }: Branches): string {
  const tip = tips.get(defaultBranch);
  if (tip !== undefined) return tip;
  const sentence = `The repository has no branch "${defaultBranch}", the project's default branch.`;
  throw new SvcError("branch_missing", sentence);
}
