import type { ReactNode } from "react";
import type { Project } from "../../../src/contract/project.ts";
import { useInstallCommand } from "../../api/release.ts";
import { Command } from "../../parts/command.tsx";

/** The commands that connect a clone and the CLI with a project. */
export function NextSteps({ project }: { project: Project }) {
  const install = useInstallCommand();
  return (
    <ol className="flex list-decimal flex-col gap-4 pl-6">
      {install && <Step command={install}>Install the CLI, once on each machine:</Step>}
      <Step command={`svc login --api ${window.location.origin}/v1`}>
        Sign in with the command line, once on each machine:
      </Step>
      {project.managed ? (
        <>
          <Step command={`svc projects link ${project.slug}`}>
            In the folder with your code, link the project:
          </Step>
          <Step command="svc ship --commit">Push your code. A folder without git becomes a repository:</Step>
        </>
      ) : (
        <Step command={`svc projects link ${project.slug}`}>
          In your clone of the repository, link the project:
        </Step>
      )}
      <Step command='svc sessions new --prompt "Fix the login page"'>Start an agent:</Step>
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
