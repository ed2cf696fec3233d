import { REPO_URL_MAX } from "../../../src/contract/limits.ts";
import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProjectsChanged } from "../../api/project.ts";
import { TextField } from "../../parts/field.tsx";
import { Form, Save, useForm } from "../../parts/form.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";
import { CredentialFields } from "../projects/credential-fields.tsx";

/** The address of a project's repository on its git host, and the credential for it. */
export function RepositoryAddress({ project }: { project: Project }) {
  if (useMayManage(project) === false)
    return (
      <Section title="Repository">
        <p className="break-all font-mono text-sm">
          <Visible>{project.repo_url}</Visible>
        </p>
        <p className="mt-2 text-muted">
          Only an owner or an admin of the account can change its address or credential.
        </p>
      </Section>
    );
  return (
    <Section
      title="Repository"
      about="svc reads the branches of the repository before it stores either. A credential belongs to one repository: a new address removes the stored one."
    >
      <div className="flex flex-col gap-6">
        <AddressForm key={project.repo_url} project={project} />
        <CredentialForm project={project} />
      </div>
    </Section>
  );
}

function AddressForm({ project }: { project: Project }) {
  const form = useForm(
    { repo_url: project.repo_url },
    {
      send: ({ repo_url }) =>
        call<Project>("PATCH", path`/projects/${project.project_id}`, {
          body: { repo_url: repo_url.trim() },
        }),
      onSuccess: useProjectsChanged(),
    },
  );
  const isClean = form.values.repo_url === project.repo_url;
  return (
    <Form onSubmit={() => !isClean && form.submit()} className="flex flex-col gap-3">
      <TextField
        label="Address on its git host"
        required
        maxLength={REPO_URL_MAX}
        inputMode="url"
        spellCheck={false}
        {...form.field("repo_url")}
      />
      <Save form={form} verb="Change the address" disabled={isClean} isClean={isClean} />
    </Form>
  );
}

function CredentialForm({ project }: { project: Project }) {
  const changed = useProjectsChanged();
  const form = useForm(
    { username: "", token: "" },
    {
      send: ({ username, token }) =>
        call("PUT", path`/projects/${project.project_id}/git-credential`, {
          body: { token, ...(username.trim() && { username: username.trim() }) },
        }),
      onSuccess: async (_, set) => {
        set({ username: "", token: "" });
        await changed();
      },
    },
  );
  const isClean = form.values.token === "";
  return (
    <Form onSubmit={form.submit} className="flex flex-col gap-4 border-line border-t pt-4">
      <CredentialFields username={form.field("username")} token={form.field("token")} />
      <Save
        form={form}
        verb="Store the credential"
        disabled={isClean}
        isClean={isClean}
        saved="Stored. It replaces the previous one"
      />
    </Form>
  );
}
