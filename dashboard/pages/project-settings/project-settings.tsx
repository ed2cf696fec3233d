import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Command } from "../../parts/command.tsx";
import { Page } from "../../parts/page.tsx";
import { Section } from "../../parts/section.tsx";
import { NextSteps } from "../projects/next-steps.tsx";
import { Tokens } from "../tokens/tokens.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { General } from "./general.tsx";
import { Manifest } from "./manifest.tsx";
import { RepositoryAddress } from "./repository.tsx";

/** What a project is called, where its repository is, who gets in by token, and its end. */
export function ProjectSettings() {
  const project = useProject();
  return (
    <Page title="Settings">
      <div className="max-w-5xl">
        <Manifest project={project} />
        <General key={project.updated_at} project={project} />
        {!project.managed && <RepositoryAddress project={project} />}
        <Section
          title="Clone address"
          about="Fetch and push through svc: it checks who may push what, and passes accepted pushes on."
        >
          <Command label="Copy the address">{project.git_url}</Command>
        </Section>
        <Section title="On your machine">
          <NextSteps project={project} />
        </Section>
        <Tokens
          title="Project tokens"
          about="Each acts as the one who made it, in this project alone. A session has one of its own, which ends with its sandbox."
          queryKey={[project.project_id, "token"]}
          at={path`/projects/${project.project_id}/cli-token`}
        />
        <DeleteProject project={project} />
      </div>
    </Page>
  );
}
