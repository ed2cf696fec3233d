import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { REPO_URL_MAX } from "../../../src/contract/limits.ts";
import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { byField } from "../../api/failure.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProjectsChanged } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Saved } from "../../parts/saved.tsx";
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
  const [address, setAddress] = useState(project.repo_url);
  const changed = useProjectsChanged();
  const isChanged = address !== project.repo_url;
  const save = useMutation({
    mutationFn: () =>
      call<Project>("PATCH", path`/projects/${project.project_id}`, { body: { repo_url: address.trim() } }),
    onSuccess: changed,
  });
  const errors = byField(save.error, ["repo_url"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <TextField
        label="Address on its git host"
        required
        maxLength={REPO_URL_MAX}
        inputMode="url"
        spellCheck={false}
        value={address}
        onChange={(event) => setAddress(event.target.value)}
        error={errors.of("repo_url")}
      />
      <Failure error={errors.rest} />
      <div className="flex items-center gap-3">
        <Button type="submit" busy={save.isPending} disabled={!isChanged}>
          Change the address
        </Button>
        <Saved when={save.isSuccess && !isChanged} />
      </div>
    </form>
  );
}

function CredentialForm({ project }: { project: Project }) {
  const [username, setUsername] = useState("");
  const [token, setToken] = useState("");
  const changed = useProjectsChanged();
  const save = useMutation({
    mutationFn: () =>
      call("PUT", path`/projects/${project.project_id}/git-credential`, {
        body: { token, ...(username.trim() && { username: username.trim() }) },
      }),
    onSuccess: async () => {
      setUsername("");
      setToken("");
      await changed();
    },
  });
  const errors = byField(save.error, ["username", "token"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4 border-line border-t pt-4">
      <CredentialFields
        username={username}
        token={token}
        onUsername={(event) => setUsername(event.target.value)}
        onToken={(event) => setToken(event.target.value)}
        errors={{ username: errors.of("username"), token: errors.of("token") }}
      />
      <Failure error={errors.rest} />
      <div className="flex items-center gap-3">
        <Button type="submit" busy={save.isPending} disabled={token === ""}>
          Store the credential
        </Button>
        <Saved when={save.isSuccess && token === ""}>Stored. It replaces the previous one</Saved>
      </div>
    </form>
  );
}
