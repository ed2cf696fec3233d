import { NAME_MAX } from "../../../src/contract/limits.ts";
import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProjectsChanged } from "../../api/project.ts";
import { TextField } from "../../parts/field.tsx";
import { Form, Save, useForm } from "../../parts/form.tsx";
import { Section } from "../../parts/section.tsx";

/** The name and the default branch of a project. Only changed fields are sent. */
export function General({ project }: { project: Project }) {
  const mayManage = useMayManage(project) !== false;
  const form = useForm(
    { name: project.name, default_branch: project.default_branch },
    {
      send: (values) =>
        call<Project>("PATCH", path`/projects/${project.project_id}`, { body: changes(project, values) }),
      onSuccess: useProjectsChanged(),
    },
  );
  const isClean = Object.keys(changes(project, form.values)).length === 0;
  return (
    <Section title="General">
      <Form onSubmit={() => !isClean && form.submit()}>
        <TextField label="Name" required maxLength={NAME_MAX} {...form.field("name")} />
        <TextField
          label="Default branch"
          hint={
            mayManage
              ? "The default base branch of change requests. svc reads svc.toml from it."
              : "Only an owner or an admin of the account can change it."
          }
          required
          disabled={!mayManage}
          spellCheck={false}
          {...form.field("default_branch")}
        />
        <Save form={form} look="primary" verb="Save" disabled={isClean} isClean={isClean} />
      </Form>
    </Section>
  );
}

function changes(project: Project, { name, default_branch }: { name: string; default_branch: string }) {
  return {
    ...(name !== project.name && { name }),
    ...(default_branch !== project.default_branch && { default_branch: default_branch.trim() }),
  };
}
