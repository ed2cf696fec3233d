import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { NAME_MAX, REPO_URL_MAX } from "../../../src/contract/limits.ts";
import type { CreateProjectBody, Project } from "../../../src/contract/project.ts";
import { useMe } from "../../api/accounts.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Options, Select, TextField } from "../../parts/field.tsx";
import { type FieldOf, Form, useForm } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Section } from "../../parts/section.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { CredentialFields } from "./credential-fields.tsx";
import { NextSteps } from "./next-steps.tsx";

const KINDS = [
  {
    value: "host",
    label: "On a git host",
    about: "GitHub, GitLab, Gitea or any other. The repository stays there.",
  },
  { value: "svc", label: "Hosted by svc", about: "A new, empty repository on this server." },
] as const;
type Kind = (typeof KINDS)[number]["value"];

const NOTHING = {
  name: "",
  repo_url: "",
  default_branch: "",
  git_username: "",
  git_token: "",
  account_id: "",
};

/** Creates a project, and shows the next steps. */
export function NewProject() {
  const [kind, setKind] = useState<Kind>("host");
  const queries = useQueryClient();
  const form = useForm(NOTHING, {
    send: (values) => call<Project>("POST", "/projects", { body: bodyOf(kind, values) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["projects"] }),
  });
  const { values, field } = form;
  const { data: me } = useMe();
  const accounts = me?.accounts ?? [];
  if (form.data) return <Made project={form.data} />;
  return (
    <Page title="New project">
      <Form
        onSubmit={form.submit}
        className="flex max-w-2xl flex-col gap-5 rounded-lg border border-line bg-surface p-5"
      >
        <Choice legend="Where is the repository?" value={kind} options={KINDS} onChange={setKind} />
        {kind === "host" && <HostFields field={field} />}
        <TextField
          label="Name"
          required={kind === "svc"}
          maxLength={NAME_MAX}
          placeholder={nameFrom(values.repo_url)}
          hint={kind === "host" ? "Optional. Default: the name of the repository." : undefined}
          {...field("name")}
        />
        <TextField
          label="Default branch"
          placeholder={kind === "svc" ? "main" : ""}
          hint={`Optional. Default: ${kind === "host" ? "the default branch of the repository" : "main"}.`}
          spellCheck={false}
          {...field("default_branch")}
        />
        {accounts.length > 1 && (
          <Select
            label="Account"
            hint="Its members can see the project and work in it."
            {...field("account_id")}
            value={values.account_id || (accounts[0]?.account_id ?? "")}
          >
            <Options of={accounts.map(({ account_id, name }) => [account_id, visibleText(name)])} />
          </Select>
        )}
        <Failure error={form.rest} />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" busy={form.isPending}>
            {form.isPending ? "Creating the project …" : "Create the project"}
          </Button>
          <LinkButton to="/" look="quiet">
            Cancel
          </LinkButton>
        </div>
      </Form>
    </Page>
  );
}

/** The address of a repository on a git host, and the credential for it. */
function HostFields({ field }: { field: FieldOf<typeof NOTHING> }) {
  return (
    <>
      <TextField
        label="Address of the repository"
        hint="The https, ssh or git URL to clone from. svc reads its branches before it stores anything."
        placeholder="https://github.com/you/project.git"
        required
        maxLength={REPO_URL_MAX}
        inputMode="url"
        spellCheck={false}
        {...field("repo_url")}
      />
      <details>
        <summary className="rounded-md font-medium">Credential for a private repository</summary>
        <div className="mt-3 flex flex-col gap-4 border-line border-l-2 pl-4">
          <CredentialFields username={field("git_username")} token={field("git_token")} />
        </div>
      </details>
    </>
  );
}

function bodyOf(kind: Kind, values: typeof NOTHING): CreateProjectBody {
  const { name, repo_url, default_branch, git_username, git_token, account_id } = values;
  const onHost = {
    repo_url: repo_url.trim(),
    ...(git_username && { git_username: git_username.trim() }),
    ...(git_token && { git_token }),
  };
  return {
    name: name.trim() || nameFrom(repo_url) || name,
    ...(default_branch.trim() && { default_branch: default_branch.trim() }),
    ...(account_id && { account_id }),
    ...(kind === "host" && onHost),
  };
}

/** `shop` for `https://git.example.com/team/shop.git` and `git@git.example.com:team/shop`; empty if there is no name. */
function nameFrom(url: string): string {
  const address = url.trim().split(/[?#]/)[0] ?? "";
  const last =
    address
      .replace(/[/\\]+$/, "")
      .split(/[/:\\]/)
      .at(-1) ?? "";
  const name = last.replace(/\.git$/i, "");
  return /[\p{L}\p{N}]/u.test(name) ? name.slice(0, NAME_MAX) : "";
}

function Made({ project }: { project: Project }) {
  return (
    <Page title={`${project.name} is ready`}>
      <div className="max-w-2xl">
        <div className="flex flex-wrap gap-2 pb-4">
          {/* an agent needs a branch to begin from, which a new repository lacks */}
          {!project.managed && (
            <LinkButton to={path`/projects/${project.slug}/sessions/new`} look="primary">
              Start an agent
            </LinkButton>
          )}
          <LinkButton to={path`/projects/${project.slug}`} look={project.managed ? "primary" : "plain"}>
            Open the project
          </LinkButton>
        </div>
        <Section title="On your machine" about="The commands that connect a folder with the project.">
          <NextSteps project={project} />
        </Section>
      </div>
    </Page>
  );
}
