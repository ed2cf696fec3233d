import type { Branch } from "../../src/contract/repository.ts";
import { useGet } from "./get.ts";
import { path } from "./path.ts";

/** Maximum number of branches in the list. */
const BRANCHES = 200;

/** The branches of a project's repository, for a field to choose one. */
export function useBranches(projectId: string) {
  const { data, isError } = useGet<{ branches: Branch[] }>(
    [projectId, "branch", "list"],
    path`/projects/${projectId}/branches?limit=${BRANCHES}`,
  );
  const branches = data?.branches ?? [];
  return { branches, main: branches.find(({ is_default }) => is_default), isError };
}
