import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useProjectEvents } from "../api/events.ts";
import { path } from "../api/path.ts";
import { ProjectContext, useProjectQuery } from "../api/project.ts";
import { Loading } from "../parts/loading.tsx";
import { Failure } from "../parts/notice.tsx";
import { Tab } from "../parts/tab.tsx";
import { Visible } from "../parts/visible.tsx";

/** A project's parts: address → what they are called. */
const PARTS = [
  ["change-requests", "Change requests"],
  ["sessions", "Sessions"],
  ["apps", "Apps"],
  ["triggers", "Triggers"],
  ["secrets", "Secrets"],
  ["settings", "Settings"],
] as const;

/** What stands around every page of a project: its name and its parts. Keeps what the pages show as it is. */
export function ProjectShell({ projectId, children }: { projectId: string; children: ReactNode }) {
  const { data: project, error, refetch } = useProjectQuery(projectId);
  if (error && !project) {
    return (
      <div className="py-6">
        <Failure error={error} retry={() => void refetch()} />
      </div>
    );
  }
  if (!project) return <Loading />;
  return (
    <ProjectContext value={project}>
      <Listening projectId={project.project_id} />
      <nav
        aria-label="Project"
        className="flex flex-wrap items-center gap-x-6 gap-y-1 border-line border-b pt-3"
      >
        <span className="min-w-0 py-2 font-semibold">
          <Visible>{project.name}</Visible>
        </span>
        <ul className="flex gap-1 overflow-x-auto">
          {PARTS.map(([part, name]) => (
            <PartTab key={part} to={path`/projects/${projectId}/${part}`}>
              {name}
            </PartTab>
          ))}
        </ul>
      </nav>
      {children}
    </ProjectContext>
  );
}

function Listening({ projectId }: { projectId: string }) {
  useProjectEvents(projectId);
  return null;
}

function PartTab({ to, children }: { to: string; children: string }) {
  const [address] = useLocation();
  return (
    <Tab to={to} isHere={address === to || address.startsWith(`${to}/`)}>
      {children}
    </Tab>
  );
}
