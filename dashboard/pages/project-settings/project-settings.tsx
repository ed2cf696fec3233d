import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Command } from "../../parts/command.tsx";
import { Page } from "../../parts/page.tsx";
import { Section } from "../../parts/section.tsx";
import { Connectors } from "../connectors/connectors.tsx";
import { Labels } from "../labels/labels.tsx";
import { Models } from "../models/models.tsx";
import { NextSteps } from "../projects/next-steps.tsx";
import { Tokens } from "../tokens/tokens.tsx";
import { Webhooks } from "../webhooks/webhooks.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { General } from "./general.tsx";
import { Manifest } from "./manifest.tsx";
import { RepositoryAddress } from "./repository.tsx";

/** The settings of a project: name, repository, labels, tokens, models, connectors, webhooks, deletion. */
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
          about="Fetch and push through svc: it authorizes each push and forwards accepted ones."
        >
          <Command label="Copy the address">{project.git_url}</Command>
        </Section>
        <Section title="On your machine">
          <NextSteps project={project} />
        </Section>
        <Labels />
        <Tokens
          title="Project tokens"
          about="Each acts as the user who created it, in this project only. A session has its own token, which is revoked when its sandbox ends."
          queryKey={[project.project_id, "token"]}
          at={path`/projects/${project.project_id}/cli-token`}
        />
        <Models />
        <Connectors />
        <Webhooks />
        <DeleteProject project={project} />
      </div>
    </Page>
  );
}
