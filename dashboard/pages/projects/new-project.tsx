import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { NAME_MAX, REPO_URL_MAX } from "../../../src/contract/limits.ts";
import type { CreateProjectBody, Project } from "../../../src/contract/project.ts";
import { useMe } from "../../api/accounts.ts";
import { call } from "../../api/call.ts";
import { byField } from "../../api/failure.ts";
import { path } from "../../api/path.ts";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Select, TextField } from "../../parts/field.tsx";
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
const FIELDS = ["name", "repo_url", "default_branch", "git_username", "git_token", "account_id"];

const NOTHING = { name: "", repoUrl: "", branch: "", username: "", token: "", account: "" };

/** Creates a project, and shows the next steps. */
export function NewProject() {
  const [kind, setKind] = useState<"host" | "svc">("host");
  const [form, setForm] = useState(NOTHING);
  const { data: me } = useMe();
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: () => call<Project>("POST", "/projects", { body: bodyOf(kind, form) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["projects"] }),
  });
  if (make.data) return <Made project={make.data} />;
  const errors = byField(make.error, FIELDS);
  const set = (field: keyof typeof NOTHING) => (event: { target: { value: string } }) =>
    setForm((before) => ({ ...before, [field]: event.target.value }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Page title="New project">
      <form
        onSubmit={submit}
        className="flex max-w-2xl flex-col gap-5 rounded-lg border border-line bg-surface p-5"
      >
        <Choice legend="Where is the repository?" value={kind} options={KINDS} onChange={setKind} />
        {kind === "host" && (
          <>
            <TextField
              label="Address of the repository"
              hint="The https, ssh or git URL to clone from. svc reads its branches before it stores anything."
              placeholder="https://github.com/you/project.git"
              required
              maxLength={REPO_URL_MAX}
              inputMode="url"
              spellCheck={false}
              value={form.repoUrl}
              onChange={set("repoUrl")}
              error={errors.of("repo_url")}
            />
            <details>
              <summary className="rounded-md font-medium">Credential for a private repository</summary>
              <div className="mt-3 flex flex-col gap-4 border-line border-l-2 pl-4">
                <CredentialFields
                  username={form.username}
                  token={form.token}
                  onUsername={set("username")}
                  onToken={set("token")}
                  errors={{ username: errors.of("git_username"), token: errors.of("git_token") }}
                />
              </div>
            </details>
          </>
        )}
        <TextField
          label="Name"
          required={kind === "svc"}
          maxLength={NAME_MAX}
          placeholder={nameFrom(form.repoUrl)}
          hint={kind === "host" ? "Optional. Default: the name of the repository." : undefined}
          value={form.name}
          onChange={set("name")}
          error={errors.of("name")}
        />
        <TextField
          label="Default branch"
          placeholder={kind === "svc" ? "main" : ""}
          hint={
            kind === "host"
              ? "Optional. Default: the default branch of the repository."
              : "Optional. Default: main."
          }
          spellCheck={false}
          value={form.branch}
          onChange={set("branch")}
          error={errors.of("default_branch")}
        />
        {me && me.accounts.length > 1 && (
          <Select
            label="Account"
            hint="Its members can see the project and work in it."
            value={form.account || (me.accounts[0]?.account_id ?? "")}
            onChange={set("account")}
            error={errors.of("account_id")}
          >
            {me.accounts.map(({ account_id, name }) => (
              <option key={account_id} value={account_id}>
                {visibleText(name)}
              </option>
            ))}
          </Select>
        )}
        <Failure error={errors.rest} />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" busy={make.isPending}>
            {make.isPending ? "Creating the project …" : "Create the project"}
          </Button>
          <LinkButton to="/" look="quiet">
            Cancel
          </LinkButton>
        </div>
      </form>
    </Page>
  );
}

function bodyOf(kind: "host" | "svc", form: typeof NOTHING): CreateProjectBody {
  const onHost = {
    repo_url: form.repoUrl.trim(),
    ...(form.username && { git_username: form.username.trim() }),
    ...(form.token && { git_token: form.token }),
  };
  return {
    name: form.name.trim() || nameFrom(form.repoUrl) || form.name,
    ...(form.branch.trim() && { default_branch: form.branch.trim() }),
    ...(form.account && { account_id: form.account }),
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
        <Section title="Next steps" about="The project is in your list of projects.">
          <NextSteps project={project} />
        </Section>
        <LinkButton to={path`/projects/${project.slug}`} look="primary">
          Open the project
        </LinkButton>
      </div>
    </Page>
  );
}
