import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
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
}

/**
 * The change request that `<cr>` names: `3`, `#3` or its UUID. Without one, it prompts.
 * @throws CliError `usage` for anything else.
 */
export async function findCr(context: Context, reference: string | undefined, open = true): Promise<Found> {
  const name = reference === undefined ? undefined : readReference(reference);
  const { id } = await context.project();
  const api = await context.api();
  const collection = path`/projects/${id}/change-requests`;
  const chosen = name ?? (await pickCr(api, collection, open ? "open" : "closed"));
  return { api, collection, path: `${collection}${path`/${chosen}`}` };
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

async function pickCr(api: Api, collection: string, status: "open" | "closed"): Promise<string> {
  const call = { path: collection, query: { status }, slow: true };
  const found = await api.list<ChangeRequest>(call, "change_requests", 200);
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
