import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Project } from "../../src/contract/project.ts";
import { useMe } from "./accounts.ts";
import { call } from "./call.ts";
import { path } from "./path.ts";

/** @param name its id or slug */
export function useProjectQuery(name: string) {
  return useQuery({
    queryKey: [name, "project"],
    queryFn: ({ signal }) => call<Project>("GET", path`/projects/${name}`, { signal }),
  });
}

export const ProjectContext = createContext<Project | null>(null);

/** The project whose page this is. */
export function useProject(): Project {
  const project = useContext(ProjectContext);
  if (!project) throw new Error("a page of a project stands outside of its shell");
  return project;
}

/** Whether the reader may delete the project (contract: owner and admin); undefined until it is known. */
export function useMayManage(project: Project): boolean | undefined {
  const { data: me } = useMe();
  if (!me) return undefined;
  const found = me.accounts.find(({ account_id }) => account_id === project.account_id);
  return found?.role === "owner" || found?.role === "admin";
}

/** Makes stale what is shown of projects themselves, by whatever name they were asked for. */
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
