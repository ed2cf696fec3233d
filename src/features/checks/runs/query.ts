import { Type } from "@sinclair/typebox";
import { RUN_PAGE, RUN_STATUSES } from "../../../contract/check-run.ts";
import { oneOf } from "../../../contract/schema.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { type Addressed, publicUrl } from "../../../identity/auth/public-url.ts";
import { resolveRef } from "../../repository/resolve.ts";
import type { RunFilter } from "./read.ts";

export const checkRunId = Type.String({ pattern: "^[1-9][0-9]{0,14}$" });
export const commitRef = Type.String({ description: "A full commit id, a branch or a tag" });

const page = {
  per_page: Type.Optional(
    Type.String({ pattern: "^(?:[1-9][0-9]?|100)$", description: `Up to 100; ${RUN_PAGE} by default` }),
  ),
  page: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,3}$", description: "From 1" })),
};
export const pageQuery = Type.Object(page);
export const runQuery = Type.Object({
  check_name: Type.Optional(Type.String()),
  status: Type.Optional(oneOf(RUN_STATUSES)),
  filter: Type.Optional(oneOf(["latest", "all"])),
  ...page,
});

interface Page {
  limit: number;
  offset: number;
}

export function pageIn(query: { per_page?: string; page?: string }): Page {
  const limit = Number(query.per_page ?? RUN_PAGE);
  return { limit, offset: (Number(query.page ?? 1) - 1) * limit };
}

export function filterIn(query: (typeof runQuery)["static"]): RunFilter {
  const { check_name: name, status, filter } = query;
  return { name, status, all: filter === "all", ...pageIn(query) };
}

/** The header with the address of the next page, as clients of GitHub's API follow it. */
export function linkTo(
  deps: Addressed,
  request: Request,
  { limit, offset }: Page,
  total: number,
): { link?: string } {
  if (offset + limit >= total) return {};
  const { pathname, search } = new URL(request.url);
  const query = new URLSearchParams(search);
  query.set("page", String(offset / limit + 2));
  return { link: `<${publicUrl(deps)}${pathname}?${query}>; rel="next"` };
}

/** The commit of a ref; a full id is itself, whether the repository has it or not. @throws ref_not_found, invalid_ref */
export async function commitOf(deps: Deps, project: ProjectRow, ref: string): Promise<string> {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(ref)) return ref.toLowerCase();
  return (await resolveRef(deps, project, ref)).commit;
}
