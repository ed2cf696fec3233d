import type { ReactNode } from "react";
import type { Project } from "../../../src/contract/project.ts";
import { Command } from "../../parts/command.tsx";

/** How somebody's own clone and the command line come to a project. */
export function NextSteps({ project }: { project: Project }) {
  return (
    <ol className="flex list-decimal flex-col gap-4 pl-6">
      <Step command={`svc login --api ${window.location.origin}/v1`}>
        Sign the command line in, once on each machine:
      </Step>
      {project.managed ? (
        <>
          <Step command={`svc projects link ${project.slug}`}>In the folder with your code, name it:</Step>
          <Step command="svc ship --commit">
            Push what is there; a folder without git becomes a repository:
          </Step>
        </>
      ) : (
        <Step command={`svc projects link ${project.slug}`}>In your clone of the repository, name it:</Step>
      )}
      <Step command='svc sessions new --prompt "Fix the login page"'>Put an agent to work:</Step>
    </ol>
  );
}

function Step({ command, children }: { command: string; children: ReactNode }) {
  return (
    <li>
      <p className="mb-1">{children}</p>
      <Command>{command}</Command>
    </li>
  );
}
