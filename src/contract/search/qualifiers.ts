/** What a qualifier takes: one of its values, or text of a kind. */
export type Takes =
  | { kind: "choice"; values: readonly string[] }
  | { kind: "person" | "branch" | "session" | "date" | "label" };

interface Qualifier {
  takes: Takes;
  about: string;
  /** A value for the help, if it takes text. */
  example?: string;
}

const choice = (...values: string[]): Takes => ({ kind: "choice", values });

/**
 * The qualifiers of a search for change requests, in the order of the help. A new one is a row here, and one in `CONDITIONS` of
 * `src/features/change-requests/search/conditions.ts`.
 */
export const QUALIFIERS = {
  is: { takes: choice("open", "merged", "closed", "draft"), about: "its status, or a draft" },
  author: {
    takes: { kind: "person" },
    about: "who opened it: @me, or a member's name or e-mail address",
    example: "@me",
  },
  assignee: { takes: { kind: "person" }, about: "one of its assignees", example: "@me" },
  "review-requested": { takes: { kind: "person" }, about: "one of its requested reviewers", example: "@me" },
  label: { takes: { kind: "label" }, about: "one of its labels", example: "bug" },
  base: { takes: { kind: "branch" }, about: "the branch merged into", example: "main" },
  head: { takes: { kind: "branch" }, about: "the branch merged from", example: "fix-login" },
  session: { takes: { kind: "session" }, about: "the session it came from", example: "<id>" },
  review: {
    takes: choice("approved", "changes_requested", "none", "required"),
    about: "its reviews; required: it lacks approvals that a merge requires",
  },
  checks: { takes: choice("success", "failure", "pending", "none"), about: "the checks of its last commit" },
  mergeable: {
    takes: choice("clean", "conflicts", "unknown"),
    about: "whether it merges, if it is open; unknown: not compared yet",
  },
  created: { takes: { kind: "date" }, about: "when it was opened", example: ">=2026-01-31" },
  updated: { takes: { kind: "date" }, about: "when it was changed last", example: "2026-01-01..2026-01-31" },
  merged: { takes: { kind: "date" }, about: "when it was merged", example: "<2026-01-31" },
} satisfies Record<string, Qualifier>;
export type QualifierName = keyof typeof QUALIFIERS;

export const SORTS = ["created-desc", "created-asc", "updated-desc", "updated-asc"] as const;
export type Sort = (typeof SORTS)[number];

/** GitHub's other names, each with the qualifiers that it can mean. The first one that takes the value is meant. */
export const ALIASES: Readonly<Record<string, readonly QualifierName[]>> = {
  state: ["is"],
  status: ["is", "checks"],
};

export function isQualifier(name: string): name is QualifierName {
  return Object.hasOwn(QUALIFIERS, name);
}

/** The values of a qualifier that takes one of some. */
export function choicesOf(name: QualifierName): readonly string[] | null {
  const { takes }: Qualifier = QUALIFIERS[name];
  return takes.kind === "choice" ? takes.values : null;
}

/** How a qualifier is written, for help. */
export function exampleOf(name: QualifierName): string {
  const { takes, example = "" }: Qualifier = QUALIFIERS[name];
  return `${name}:${takes.kind === "choice" ? takes.values.join("|") : example}`;
}
