import { useState } from "react";
import { Link } from "wouter";
import type { Project } from "../../../src/contract/project.ts";
import { useMe } from "../../api/accounts.ts";
import { useList } from "../../api/list.ts";
import { path } from "../../api/path.ts";
import { useInstallCommand } from "../../api/release.ts";
import { Ago } from "../../parts/ago.tsx";
import { LinkButton } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Options, Select, TextField } from "../../parts/field.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";

/** The number of projects from which on the search field is shown. */
const SEARCH_FROM = 7;

/** All projects of the signed-in user, or those of one account. */
export function Projects() {
  const [account, setAccount] = useState("");
  const [words, setWords] = useState("");
  const { data: me } = useMe();
  const list = useProjects(account);
  const shown = newestFirst(list.rows.filter((project) => matches(project, words)));
  const accounts = me?.accounts ?? [];
  const current = accounts.find(({ account_id }) => account_id === account) ?? accounts[0];
  return (
    <section aria-labelledby="projects">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <h2 id="projects" className="font-semibold text-lg">
          Projects
        </h2>
        {current && accounts.length === 1 && (
          <LinkButton to={path`/accounts/${current.account_id}`}>Members</LinkButton>
        )}
      </div>
      <div className="mb-4 flex flex-wrap items-end gap-x-4 gap-y-2 empty:hidden">
        {accounts.length > 1 && (
          <div className="w-full sm:w-64">
            <Select label="Account" value={account} onChange={(event) => setAccount(event.target.value)}>
              <option value="">All my accounts</option>
              <Options of={accounts.map(({ account_id, name }) => [account_id, visibleText(name)])} />
            </Select>
          </div>
        )}
        {account && current && (
          <LinkButton to={path`/accounts/${account}`}>
            Members of <Visible>{current.name}</Visible>
          </LinkButton>
        )}
        {(list.rows.length >= SEARCH_FROM || words) && (
          <div className="w-full sm:w-64">
            <TextField
              label="Find a project"
              type="search"
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </div>
        )}
      </div>
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the projects" />}
      {list.isSuccess && list.rows.length === 0 && <NoProjects />}
      {list.rows.length > 0 && shown.length === 0 && (
        <p role="status" className="py-6 text-muted">
          No project matches your search.
        </p>
      )}
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {shown.map((project) => (
          <Card key={project.project_id} project={project} />
        ))}
      </ul>
      <More list={list} isEnd />
    </section>
  );
}

/** @param account the id of an account; empty for all accounts of the user */
export function useProjects(account: string) {
  const query = account && `?account_id=${encodeURIComponent(account)}`;
  return useList<Project>(["projects", account], `/projects${query}`, "projects");
}

export const newestFirst = (projects: readonly Project[]): Project[] =>
  [...projects].sort((one, other) => other.updated_at.localeCompare(one.updated_at));

function matches({ name, slug, repo_url }: Project, words: string): boolean {
  const text = `${name} ${slug} ${repo_url}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function NoProjects() {
  const install = useInstallCommand();
  return (
    <Empty title="No projects yet" command='svc projects new --repo "$(git remote get-url origin)" --link'>
      <p>
        A project connects svc with a repository. Create one{" "}
        <Link href="/new" className="text-accent underline">
          here
        </Link>
        , or in your own clone of it:
      </p>
      {install && (
        <div className="mt-3 text-left text-ink">
          <p className="mb-1 text-muted">Install the CLI first:</p>
          <Command label="Copy the command that installs the CLI">{install}</Command>
        </div>
      )}
    </Empty>
  );
}

function Card({ project }: { project: Project }) {
  return (
    <li className="relative flex flex-col rounded-lg border border-line bg-surface p-4 shadow-xs hover:border-edge">
      <h3 className="font-semibold">
        <Link
          href={path`/projects/${project.slug}`}
          className="text-ink no-underline after:absolute after:inset-0 after:rounded-lg"
        >
          <Visible>{project.name}</Visible>
        </Link>
      </h3>
      <p className="mt-1 grow text-muted text-sm">
        {project.managed ? "Hosted by svc" : <Visible>{project.repo_url}</Visible>}
      </p>
      <p className="mt-3 text-muted text-sm">
        Changed <Ago at={project.updated_at} />
      </p>
    </li>
  );
}
