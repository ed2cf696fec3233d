import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { useList } from "../../api/list.ts";
import { path } from "../../api/path.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { Options, Select, TextField } from "../../parts/field.tsx";
import { type InputProps, useForm } from "../../parts/form.tsx";
import { More } from "../../parts/more.tsx";
import { SecretText } from "../../parts/secret-text.tsx";
import { visibleText } from "../../parts/visible.tsx";

interface Props {
  /** API path of the user's secrets, below `/v1`. */
  at: string;
  onDone: () => Promise<void>;
  onClose: () => void;
}

/** Dialog for the value of a secret, and for its name and first project if it is new. */
export function SetOwnSecret({ at, name, onDone, onClose }: Props & { name: string | null }) {
  const form = useForm(
    { name: name ?? "", value: "", project: "" },
    {
      async send({ name: given, value, project }) {
        const secret = at + path`/${given.trim()}`;
        await call("PUT", secret, { body: { value } });
        if (project !== "") await call("PUT", secret + path`/projects/${project}`);
      },
      onSuccess: onDone,
    },
  );
  return (
    <FormDialog
      title={name === null ? "New secret of your own" : `Replace ${name}`}
      verb={name === null ? "Set the secret" : "Replace the secret"}
      busy={form.isPending}
      error={name !== null && form.field("name").error ? form.error : form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      {name === null && (
        <TextField
          label="Name"
          hint="CLAUDE_CODE_OAUTH_TOKEN for the token of claude setup-token, CODEX_AUTH_JSON for the file ~/.codex/auth.json of codex login, or any other of A-Z, 0-9 and _."
          placeholder="CLAUDE_CODE_OAUTH_TOKEN"
          required
          spellCheck={false}
          autoCapitalize="characters"
          {...form.field("name")}
        />
      )}
      <SecretText
        label="Value"
        hint={
          name === null
            ? "Up to 64 KiB, one or more lines."
            : "It replaces the current value, also in your running sessions."
        }
        {...form.field("value")}
      />
      {name === null && <ProjectField input={form.input("project")} none="No project yet" />}
    </FormDialog>
  );
}

/** Dialog for another project whose sessions get a secret. */
export function AllowProject({ at, name, onDone, onClose }: Props & { name: string }) {
  const form = useForm(
    { project: "" },
    {
      send: ({ project }) => call("PUT", at + path`/${name}/projects/${project}`),
      onSuccess: onDone,
    },
  );
  return (
    <FormDialog
      title={`Give ${name} to a project`}
      verb="Give it to the project"
      busy={form.isPending}
      error={form.error}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <ProjectField input={form.input("project")} none="Choose a project" required />
    </FormDialog>
  );
}

interface ProjectProps {
  input: InputProps;
  /** The choice of none. */
  none: string;
  required?: boolean;
}

function ProjectField({ input, none, required = false }: ProjectProps) {
  const list = useList<Project>(["projects", "of-secrets"], "/projects", "projects");
  return (
    <>
      <Select
        label="Project"
        hint="Your sessions there get it. Choose only a project whose members you trust with it."
        required={required}
        {...input}
      >
        <option value="">{none}</option>
        <Options of={list.rows.map(({ slug, name }) => [slug, `${visibleText(name)} (${slug})`])} />
      </Select>
      <More list={list} />
    </>
  );
}
