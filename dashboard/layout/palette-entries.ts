import { keepPreviousData } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import type { ChangeRequest } from "../../src/contract/change-request.ts";
import type { Project } from "../../src/contract/project.ts";
import type { Session } from "../../src/contract/session.ts";
import { useMe } from "../api/accounts.ts";
import { useGet } from "../api/get.ts";
import { useInbox } from "../api/inbox.ts";
import { pageOf } from "../api/page-of.ts";
import { path } from "../api/path.ts";
import { titleOf } from "../pages/sessions/words.ts";
import { useShownKeys } from "../parts/keys.ts";
import { TABS } from "./project-tabs.ts";

/** Something that the command palette offers: a page to go to, or an action of the current page. */
export type Entry = { id: string; label: string; kind: string } & ({ to: string } | { run: () => void });

/** Entries of each kind: more words find the others. */
const KIND_MAX = 6;
/** Rows that are read of each list, to be filtered here. */
const READ_MAX = 100;
/** For how long nothing is typed before the server searches, in milliseconds. */
const TYPING_MS = 200;

/** @returns the entries that have all the words in their names; inside a project, its sessions and change requests */
export function useEntries(words: string): readonly Entry[] {
  const [address] = useLocation();
  const slug = decodeURIComponent(/^\/projects\/([^/]+)/.exec(address)?.[1] ?? "");
  const wanted = words.toLowerCase().split(/\s+/);
  const has = ({ label }: Entry) => wanted.every((word) => label.toLowerCase().includes(word));
  const [actions, pages, recent, projects] = [useActions(), usePages(slug), useRecent(slug), useProjects()];
  const found = useFound(slug, words.trim(), has);
  return [
    ...[actions, pages, recent, projects].flatMap((kind) => kind.filter(has).slice(0, KIND_MAX)),
    ...found,
  ];
}

function useActions(): readonly Entry[] {
  return useShownKeys().map(({ key, about, run }) => ({ id: `key ${key}`, label: about, kind: key, run }));
}

function usePages(slug: string): readonly Entry[] {
  const { data: me } = useMe();
  const of = (kind: string, pages: readonly (readonly [label: string, to: string])[]) =>
    pages.map(([label, to]) => ({ id: to, label, kind, to }));
  const own = path`/projects/${slug}`;
  return [
    ...(slug === ""
      ? []
      : of(slug, [
          ...TABS.map(([part, name]) => [name, `${own}/${part}`] as const),
          ["New change request", `${own}/change-requests/new`],
          ["New session", `${own}/sessions/new`],
        ])),
    ...of("svc", [
      ["Home", "/"],
      ["New project", "/new"],
      ["Settings and tokens", "/settings"],
      ...(me?.is_operator ? [["Server", "/server"] as const] : []),
    ]),
    ...(me?.accounts ?? []).flatMap(({ account_id, name }) =>
      of(name, [
        ["Members", path`/accounts/${account_id}`],
        ["Usage", path`/accounts/${account_id}/usage`],
      ]),
    ),
  ];
}

/** The newest sessions of a project; without one, the user's own of all projects, and what waits for them. */
function useRecent(slug: string): readonly Entry[] {
  const { data: inbox } = useInbox();
  const { data: list } = useGet<{ sessions: Session[] }>(
    [slug, "session", "palette"],
    `${path`/projects/${slug}/sessions`}?limit=${READ_MAX}`,
    { enabled: slug !== "" },
  );
  if (slug === "") {
    const rows = [...(inbox?.items ?? []), ...(inbox?.sessions ?? [])];
    return [...new Map(rows.map((row) => [pageOf(row), row])).values()].map((row) => ({
      id: pageOf(row),
      label: row.title,
      kind: row.session_id === null ? `#${row.change_request}` : "Session",
      to: pageOf(row),
    }));
  }
  return (list?.sessions ?? []).map((session) => ({
    id: session.session_id,
    label: titleOf(session),
    kind: "Session",
    to: path`/projects/${slug}/sessions/${session.session_id}`,
  }));
}

function useProjects(): readonly Entry[] {
  const { data } = useGet<{ projects: Project[] }>(["projects", "palette"], `/projects?limit=${READ_MAX}`);
  return (data?.projects ?? []).map(({ project_id, slug, name }) => ({
    id: project_id,
    label: name,
    kind: "Project",
    to: path`/projects/${slug}`,
  }));
}

/**
 * The change requests of a project that a search finds; the open ones without words. None if it is not a search.
 * @param has chooses among the last ones until the server has answered
 */
function useFound(slug: string, words: string, has: (entry: Entry) => boolean): readonly Entry[] {
  const q = useSettled(words) || "is:open";
  const query = new URLSearchParams({ q, limit: String(KIND_MAX) });
  const { data, isPlaceholderData } = useGet<{ change_requests: ChangeRequest[] }>(
    [slug, "change_request", "palette", q],
    `${path`/projects/${slug}/change-requests`}?${query}`,
    { enabled: slug !== "", placeholderData: keepPreviousData, retry: false },
  );
  const entries = (data?.change_requests ?? []).map(({ cr_id, number, title }) => ({
    id: cr_id,
    label: title,
    kind: `#${number}`,
    to: path`/projects/${slug}/change-requests/${number}`,
  }));
  return isPlaceholderData || q !== (words || "is:open") ? entries.filter(has) : entries;
}

/** A text once nothing has been typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
