import { useQuery } from "@tanstack/react-query";
import { createContext } from "react";
import type { Project } from "../../src/contract/project.ts";
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
