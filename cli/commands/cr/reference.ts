import type { ChangeRequest, CrStatusFilter } from "../../../src/contract/change-request.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { ownBranch } from "../../own-branch.ts";
import { oneLine } from "../../text.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NUMBER = /^#?([1-9]\d{0,8})$/;

/** A change request of the current project. */
export interface Found {
  api: Api;
  /** Below the host's `/v1`. */
  path: string;
  /** The project's change requests. */
  collection: string;
  /** The change request, if the current branch named it. */
  ofBranch?: ChangeRequest;
}

/**
 * The change request that `<cr>` names: `3`, `#3` or its UUID. Without one, that of the current branch; on a terminal it prompts
 * if there is none, or more than one.
 * @param status of those that the command is for
 * @throws CliError `usage` for anything else, `not_found` if the branch has none.
 */
export async function findCr(
  context: Context,
  reference: string | undefined,
  status: "open" | "closed" | "merged" = "open",
): Promise<Found> {
  const name = reference === undefined ? undefined : readReference(reference);
  const project = await context.project();
  const collection = path`/projects/${project.id}/change-requests`;
  const at = (chosen: string | number) => `${collection}${path`/${chosen}`}`;
  if (name !== undefined) return { api: await context.api(), collection, path: at(name) };
  const branch = await ownBranch(context, project);
  if (branch === null && !context.canAsk()) throw notNamed();
  const api = await context.api();
  const found = branch === null ? [] : await listOfBranch(api, collection, branch, status);
  const [ofBranch] = found;
  if (found.length === 1 && ofBranch !== undefined) {
    await context.out.note(`Using #${ofBranch.number}, of the branch ${oneLine(ofBranch.head_ref)}`);
    return { api, collection, path: at(ofBranch.number), ofBranch };
  }
  if (!context.canAsk()) throw branch === null ? notNamed() : notOne(branch, found, status);
  return { api, collection, path: at(await pickCr(api, collection, status, found)) };
}

/** The change request as it is now. */
export async function readCr({ api, path }: Pick<Found, "api" | "path">): Promise<ChangeRequest> {
  return (await api.call<{ change_request: ChangeRequest }>({ path, slow: true })).change_request;
}

/** Of one branch; it may have one for each base. */
const OF_BRANCH_MAX = 20;

/** Those with this status; if an open one is wanted and there is none, the newest, which commands that only read show. */
export async function listOfBranch(
  api: Api,
  collection: string,
  branch: string,
  status: "open" | "closed" | "merged",
): Promise<ChangeRequest[]> {
  const list = (wanted: CrStatusFilter, max: number) =>
    api.list<ChangeRequest>(
      { path: collection, query: { status: wanted, head_ref: branch }, slow: true },
      "change_requests",
      max,
    );
  const found = await list(status, OF_BRANCH_MAX);
  return found.length > 0 || status !== "open" ? found : list("all", 1);
}

const notNamed = (): CliError =>
  usage(
    "A change request is required: its number or its id. In a shell, # starts a comment: write 3, or quote it.",
    "It defaults to that of the current branch only in a session, and in a clone of the project.",
  );

function notOne(
  branch: string,
  found: readonly ChangeRequest[],
  status: "open" | "closed" | "merged",
): CliError {
  const name = `the branch ${oneLine(branch)}`;
  if (found.length > 1) {
    const numbers = found.map(({ number, base_ref }) => `#${number} (into ${oneLine(base_ref)})`);
    return usage(`${name} has ${found.length} change requests: ${numbers.join(", ")}.`, "Name one of them.");
  }
  return new CliError(
    "not_found",
    `There is no ${status === "open" ? "" : `${status} `}change request of ${name}.`,
    {
      hint: "Name one by its number, or open one with `svc cr open`. `svc cr ls` lists them.",
    },
  );
}

/** Whether a word names a change request; any other may be a branch. */
export const isReference = (text: string): boolean => NUMBER.test(text) || UUID.test(text);

/** @throws CliError `usage` for the number of a change request where a comment's id is missing. */
export function checkCommentId(text: string): void {
  if (NUMBER.test(text))
    throw usage(`Not a comment: ${text}. <comment> is its id, which \`svc cr comments\` prints.`);
}

/** The number without its `#`, or the UUID. @throws CliError `usage`. */
export function readReference(text: string): string {
  const number = NUMBER.exec(text)?.[1];
  if (number !== undefined) return number;
  if (UUID.test(text)) return text.toLowerCase();
  throw usage(
    `Not a change request: ${oneLine(text).slice(0, 100)}`,
    "Name it by its number (3 or #3) or its id. `svc cr ls` lists them.",
  );
}

async function pickCr(
  api: Api,
  collection: string,
  status: "open" | "closed" | "merged",
  ofBranch: readonly ChangeRequest[],
): Promise<string> {
  const call = { path: collection, query: { status }, slow: true };
  const found = ofBranch.length > 0 ? ofBranch : await api.list<ChangeRequest>(call, "change_requests", 200);
  if (found.length === 0) throw new CliError("not_found", `The project has no ${status} change requests.`);
  const { choose } = await import("../../prompt.ts");
  return choose(
    "Which change request?",
    found.map((cr) => ({
      value: String(cr.number),
      label: `#${cr.number} ${cr.title}`,
      hint: `${cr.head_ref} → ${cr.base_ref}`,
    })),
  );
}
