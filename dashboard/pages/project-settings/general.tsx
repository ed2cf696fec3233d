import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { NAME_MAX } from "../../../src/contract/limits.ts";
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

/** The name and the default branch of a project. Only changed fields are sent. */
export function General({ project }: { project: Project }) {
  const [name, setName] = useState(project.name);
  const [branch, setBranch] = useState(project.default_branch);
  const changed = useProjectsChanged();
  const mayManage = useMayManage(project) !== false;
  const changes = {
    ...(name !== project.name && { name }),
    ...(branch !== project.default_branch && { default_branch: branch.trim() }),
  };
  const isChanged = Object.keys(changes).length > 0;
  const save = useMutation({
    mutationFn: () => call<Project>("PATCH", path`/projects/${project.project_id}`, { body: changes }),
    onSuccess: changed,
  });
  const errors = byField(save.error, ["name", "default_branch"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) save.mutate();
  };
  return (
    <Section title="General">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Name"
          required
          maxLength={NAME_MAX}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.of("name")}
        />
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
          value={branch}
          onChange={(event) => setBranch(event.target.value)}
          error={errors.of("default_branch")}
        />
        <Failure error={errors.rest} />
        <div className="flex items-center gap-3">
          <Button type="submit" look="primary" busy={save.isPending} disabled={!isChanged}>
            Save
          </Button>
          <Saved when={save.isSuccess && !isChanged} />
        </div>
      </form>
    </Section>
  );
}
