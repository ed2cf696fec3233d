import { eq } from "drizzle-orm";
import { users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { allowsMethod, type MergeMethod } from "../../contract/merge-method.ts";
import type { Deps } from "../../deps.ts";
import type { Relation, Repository } from "../../git/git.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import type { Protection } from "../projects/protection.ts";
import { pageUrl } from "./page-url.ts";
import type { CrRow } from "./row.ts";

/** The newest commits of a head that are read for their authors, and the most authors that a message names. */
const AUTHORED_MAX = 250;
const AUTHORS_MAX = 50;

/** How to merge two commits. */
export interface Merge {
  method: MergeMethod;
  base: string;
  head: string;
  /** The caller's message. */
  given: string | undefined;
}

interface Person {
  name: string;
  email: string;
}

/**
 * The method that the caller chose, or the project's default.
 * @throws merge_method_not_allowed; validation_failed for a message that no commit of the method would have
 */
export function chooseMethod(
  { mergeMethods }: Pick<Protection, "mergeMethods">,
  wanted: MergeMethod | undefined,
  given: string | undefined,
): MergeMethod {
  const method = wanted ?? mergeMethods[0] ?? "merge";
  if (!allowsMethod(mergeMethods, method)) {
    const allowed = mergeMethods.join(", ");
    const sentence = `Cannot merge with the method ${method}: this project allows ${allowed}. Choose one of them, or change methods under [change_requests] in its manifest.`;
    throw new SvcError("merge_method_not_allowed", sentence, { methods: mergeMethods });
  }
  if (given !== undefined && (method === "rebase" || method === "ff-only")) {
    throw new SvcError(
      "validation_failed",
      `The method ${method} keeps the messages of the commits, so it cannot take a message. Leave the message out, or choose the method merge or squash.`,
      { details: [{ path: "message", message: `cannot be used with ${method}` }] },
    );
  }
  return method;
}

/** A person, as git names people. */
export async function personOf(deps: Deps, { userId }: Pick<Caller, "userId">): Promise<Person> {
  const [user] = await deps.db
    .select({ name: users.name, email: users.email })
    .from(users)
    .where(eq(users.userId, userId));
  const email = plain(user?.email ?? "") || svcIdentity(deps).email;
  return { name: plain(user?.name ?? "") || email, email };
}

/** svc, as git names people. */
export function svcIdentity({ config }: Pick<Deps, "config">): Person {
  return { name: "svc", email: `no-reply@${config.noReplyHost}` };
}

/** The trailer that names another author of a commit. */
export function coAuthor({ name, email }: Person): string {
  return `Co-authored-by: ${name} <${email}>`;
}

/**
 * The message of the merge (contract: Change requests). A method that writes no message has the trailers alone: they
 * tell its intents apart.
 */
export async function messageOf(
  deps: Deps,
  repo: Repository,
  project: ProjectRow,
  row: CrRow,
  person: Person,
  { method, base, head, given }: Merge,
): Promise<string> {
  const url = pageUrl(deps, project, row.number);
  const trailers = `Merged-by: ${person.name} <${person.email}>\nChange-Request: ${url}`;
  if (method === "merge") {
    const words = given ?? `Merge CR #${row.number}: ${row.title}`;
    return `${words.trimEnd()}\n\n${trailers}`;
  }
  if (method !== "squash") return trailers;
  const words = given ?? `${row.title}\n\n${row.description}`;
  const authors = await coAuthors(deps, repo, { base, head }, person);
  return [`${words.trimEnd()}\n`, ...authors, trailers].join("\n");
}

/** The authors of the head's commits except the person who merges, the first author first. */
async function coAuthors(
  deps: Deps,
  repo: Repository,
  { base, head }: Pick<Merge, "base" | "head">,
  person: Person,
): Promise<string[]> {
  const range = { commit: head, without: base, path: new Uint8Array(), skip: 0, limit: AUTHORED_MAX };
  const { commits } = await deps.git.log(repo, range);
  const seen = new Set([person.email.toLowerCase(), svcIdentity(deps).email]);
  const lines: string[] = [];
  for (const { author } of commits.toReversed()) {
    const [name, email] = [plain(author.name), plain(author.email)];
    if (email === "" || seen.has(email.toLowerCase())) continue;
    seen.add(email.toLowerCase());
    lines.push(coAuthor({ name: name || email, email }));
  }
  return lines.slice(0, AUTHORS_MAX);
}

/**
 * Writes what the base branch gets.
 * @returns its new tip, and whether that is the head itself
 * @throws merge_conflict, nothing_to_merge, not_fast_forward, too_many_commits
 */
export async function writeCommits(
  deps: Deps,
  repo: Repository,
  row: CrRow,
  relation: Relation,
  {
    method,
    base,
    head,
    given,
    message,
    date,
    person,
  }: Merge & { message: string; date: Date; person: Person },
): Promise<{ mergeSha: string; fastForward: boolean }> {
  if (relation.canFastForward && (method === "ff-only" || (method === "merge" && given === undefined)))
    return { mergeSha: head, fastForward: true };
  if (method === "ff-only") {
    throw new SvcError(
      "not_fast_forward",
      `"${row.baseRef}" has commits that "${row.headRef}" does not have, so it cannot be fast-forwarded. Rebase the branch onto it, or choose another method.`,
    );
  }
  const svc = svcIdentity(deps);
  const request = { base, head, message, date };
  const written =
    method === "merge"
      ? await deps.git.writeMerge(repo, { ...request, identity: svc })
      : method === "squash"
        ? await deps.git.writeSquash(repo, { ...request, identity: person })
        : await deps.git.writeRebase(repo, { ...request, identity: person });
  if ("conflicts" in written) {
    const { conflicts, at } = written;
    throw new SvcError("merge_conflict", "Merge failed", { conflicts, ...(at && { commit: at }) });
  }
  if (written.commit === base) {
    throw new SvcError(
      "nothing_to_merge",
      `"${row.baseRef}" already has every change of "${row.headRef}". Push new commits to it, or close the change request: svc cr close ${row.number}`,
    );
  }
  return { mergeSha: written.commit, fastForward: written.commit === head };
}

/** A name or an address in one line, without what git gives a meaning to. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}<>]/gu, " ").trim();
}
