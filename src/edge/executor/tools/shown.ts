import { Type } from "@sinclair/typebox";
import type { Author } from "../../../contract/author.ts";
import type { Page } from "../../../http/page.ts";

/** Rows of a list: fewer than the API's, since an agent reads all of them. */
const ROWS_DEFAULT = 20;
const ROWS_MAX = 50;

/** The arguments of every list. */
export const pageFields = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ROWS_MAX,
      description: `Rows to return; ${ROWS_DEFAULT} if omitted`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 400, description: "next_cursor of the previous page, for the next one" }),
  ),
};

export function pageOf({ limit = ROWS_DEFAULT, cursor }: { limit?: number; cursor?: string }): Page {
  return { limit, cursor };
}

/** A number of a change request, as an argument. */
export const numberField = Type.Integer({
  minimum: 1,
  maximum: 999_999_999,
  description: "The number of the change request, without #",
});

export const uuidField = (description: string) => Type.String({ format: "uuid", description });

/** An author in words: `Ada`, or `agent for Ada (session …)`. */
export function authorText({ kind, name, session_id }: Author): string {
  if (kind === "user") return name;
  if (kind === "token") return `token "${name}"`;
  return session_id === null ? `agent for ${name}` : `agent for ${name} (session ${session_id})`;
}

/** Text up to `max` characters, and how much is missing. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).toWellFormed()}… [svc: ${text.length - max} more characters]`;
}
