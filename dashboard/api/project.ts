import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Project } from "../../src/contract/project.ts";
import { useMe } from "./accounts.ts";
import { useGet } from "./get.ts";
import { path } from "./path.ts";

/** @param name id or slug of the project */
export function useProjectQuery(name: string) {
  return useGet<Project>([name, "project"], path`/projects/${name}`);
}

export const ProjectContext = createContext<Project | null>(null);

/** The project of the current page. */
export function useProject(): Project {
  const project = useContext(ProjectContext);
  if (!project) throw new Error("useProject is called outside of ProjectShell");
  return project;
}

/** Whether the signed-in user may delete the project (contract: owner and admin); undefined while loading. */
export function useMayManage(project: Project): boolean | undefined {
  const { data: me } = useMe();
  if (!me) return undefined;
  const found = me.accounts.find(({ account_id }) => account_id === project.account_id);
  return found?.role === "owner" || found?.role === "admin";
}

/** Invalidates the queries of projects, whether their keys have the id or the slug. */
export async function projectsChanged(queries: QueryClient): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey: [first, second] }) => first === "projects" || second === "project",
  });
}

/** The same, for a mutation. */
export function useProjectsChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return () => projectsChanged(queries);
}
