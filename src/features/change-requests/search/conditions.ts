import { and, eq, gte, ilike, inArray, isNotNull, lt, or, type SQL, sql } from "drizzle-orm";
import { containing } from "../../../../db/containing.ts";
import { changeRequests } from "../../../../db/schema/index.ts";
import { CR_STATUSES } from "../../../contract/change-request.ts";
import { rangeOf } from "../../../contract/search/dates.ts";
import type { Term } from "../../../contract/search/parse.ts";
import type { QualifierName } from "../../../contract/search/qualifiers.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { idsOfLabel } from "../labels/of.ts";
import { idsOfPeople } from "../people/of.ts";
import { daysOf } from "./days.ts";
import { hasChecks, hasReview, merges } from "./facts.ts";
import { hasAnyTerm, hasTerm, hasWord, type Indexed } from "./index-terms.ts";

/** What a condition is evaluated with. */
export interface Context {
  project: ProjectRow;
  gitVersion: string;
  /** The ids of the people that `author:` names, by its value. */
  people: ReadonlyMap<string, readonly string[]>;
  /** The ids of the labels that `label:` names, by its value. */
  labels: ReadonlyMap<string, string>;
}

/**
 * A condition of a search. Without `indexed` and `ids`, no index has it: rows are read one after the other.
 */
export interface Condition {
  where: SQL;
  indexed?: Indexed;
  /** A query for the ids of all change requests that meet it, in a table with an index of its own. */
  ids?: SQL;
}

const { title, headRef, baseRef, number, status, draft, createdBy, originSessionId } = changeRequests;
const { createdAt, updatedAt, mergedAt } = changeRequests;

/** What each qualifier means, with the value that the language has checked. */
const CONDITIONS: Record<QualifierName | "text", (value: string, context: Context) => Condition> = {
  text: (value, { project }) => {
    const words = containing(value);
    const digits = /^#?([1-9]\d{0,8})$/.exec(value)?.[1];
    const named = digits === undefined ? undefined : Number(digits);
    const isNamed = named === undefined ? undefined : eq(number, named);
    return {
      where: sql`(${or(ilike(title, words), ilike(headRef, words), ilike(baseRef, words), isNamed)})`,
      indexed: hasWord(project.projectId, value, named),
    };
  },
  is: (value, { project }) => {
    const known = CR_STATUSES.find((each) => each === value);
    return {
      where: known === undefined ? eq(draft, true) : eq(status, known),
      indexed: hasTerm(project.projectId, `is:${value}`),
    };
  },
  author: (value, { project, people }) => {
    const ids = people.get(value) ?? [];
    return {
      where: inArray(createdBy, [...ids]),
      indexed: hasAnyTerm(
        project.projectId,
        ids.map((id) => `author:${id}`),
      ),
    };
  },
  base: (value, { project }) => ({
    where: eq(baseRef, value),
    indexed: hasTerm(project.projectId, `base:${value}`),
  }),
  head: (value, { project }) => ({
    where: eq(headRef, value),
    indexed: hasTerm(project.projectId, `head:${value}`),
  }),
  session: (value, { project }) => ({
    where: eq(originSessionId, value),
    indexed: hasTerm(project.projectId, `session:${value}`),
  }),
  label: (value, { labels }) => oneOf(idsOfLabel(labels.get(value) ?? "")),
  assignee: (value, { people }) => oneOf(idsOfPeople("assignee", people.get(value) ?? [])),
  "review-requested": (value, { people }) => oneOf(idsOfPeople("reviewer", people.get(value) ?? [])),
  review: (value, { project }) => ({ where: hasReview(value, project) }),
  checks: (value, { project }) => ({ where: hasChecks(value, project) }),
  mergeable: (value, { gitVersion }) => ({ where: merges(value, gitVersion) }),
  created: (value, { project }) => within("created", createdAt, value, project),
  updated: (value, { project }) => within("updated", updatedAt, value, project),
  merged: (value, { project }) => within("merged", mergedAt, value, project),
};

/** The condition of a term. */
export function conditionOf({ name, value, not }: Term, context: Context): Condition {
  const condition = CONDITIONS[name](value, context);
  if (!not) return condition;
  const where = sql`not coalesce(${condition.where}, false)`;
  if (name !== "is" || value === "draft") return { where };
  const others = CR_STATUSES.filter((each) => each !== value).map((each) => `is:${each}`);
  return { where, indexed: hasAnyTerm(context.project.projectId, others) };
}

const oneOf = (ids: SQL): Condition => ({ where: sql`${changeRequests.crId} in (${ids})`, ids });

function within(
  name: "created" | "updated" | "merged",
  column: typeof createdAt | typeof mergedAt,
  value: string,
  { projectId }: ProjectRow,
): Condition {
  const range = rangeOf(value);
  if (range === null) throw new Error(`not a date: ${value}`);
  const { from, to } = range;
  const days = daysOf(range).map((day) => `${name}:${day}`);
  return {
    where: sql`(${and(isNotNull(column), from === null ? undefined : gte(column, from), to === null ? undefined : lt(column, to))})`,
    indexed: hasAnyTerm(projectId, days),
  };
}
