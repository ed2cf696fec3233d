import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useProjectEvents } from "../api/events.ts";
import { path } from "../api/path.ts";
import { ProjectContext, useProjectQuery } from "../api/project.ts";
import { LinkButton } from "../parts/button.tsx";
import { Loading } from "../parts/loading.tsx";
import { Failure } from "../parts/notice.tsx";
import { Tab } from "../parts/tab.tsx";
import { Visible } from "../parts/visible.tsx";
import { TABS } from "./project-tabs.ts";

/** The layout of all pages of a project: its name and its tabs. Keeps the data of the pages up to date. */
export function ProjectShell({ projectId, children }: { projectId: string; children: ReactNode }) {
  const { data: project, error, refetch } = useProjectQuery(projectId);
  if (error && !project) {
    return (
      <div className="py-6">
        <Failure
          error={error}
          retry={() => void refetch()}
          also={<LinkButton to="/">All projects</LinkButton>}
        />
      </div>
    );
  }
  if (!project) return <Loading />;
  return (
    <ProjectContext value={project}>
      <EventSubscription projectId={project.project_id} />
      <nav
        aria-label="Project"
        className="flex flex-wrap items-center gap-x-6 gap-y-1 border-line border-b pt-3"
      >
        <span className="min-w-0 py-2 font-semibold">
          <Visible>{project.name}</Visible>
        </span>
        <ul className="flex gap-1 overflow-x-auto">
          {TABS.map(([part, name, icon]) => (
            <ProjectTab key={part} to={path`/projects/${projectId}/${part}`} icon={icon}>
              {name}
            </ProjectTab>
          ))}
        </ul>
      </nav>
      {children}
    </ProjectContext>
  );
}

function EventSubscription({ projectId }: { projectId: string }) {
  useProjectEvents(projectId);
  return null;
}

function ProjectTab({ to, icon, children }: { to: string; icon: LucideIcon; children: string }) {
  const [address] = useLocation();
  return (
    <Tab to={to} icon={icon} isHere={address === to || address.startsWith(`${to}/`)}>
      {children}
    </Tab>
  );
}
