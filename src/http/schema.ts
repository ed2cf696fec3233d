import { type TSchema, Type } from "@sinclair/typebox";

/** A UUID in a path. */
export const uuidParam = Type.String({ format: "uuid" });

/** `{ok: true}`: the response of a route that has nothing to return. */
export const ok = Type.Object({ ok: Type.Literal(true) });

/** The body of a list: the rows under their noun, and the next page's cursor when there is one. */
export function listOf(noun: string, row: TSchema) {
  return Type.Object({ [noun]: Type.Array(row), next_cursor: Type.Optional(Type.String()) });
}

/**
 * A route's response, for the OpenAPI document only: types and a test check responses against the contract, since checks
 * at run time would dominate the time of a long list.
 */
export function answer(status: 200 | 201 | 202, schema: TSchema) {
  const content = { "application/json": { schema: JSON.parse(JSON.stringify(schema)) } };
  return { detail: { responses: { [status]: { description: DESCRIPTIONS[status], content } } } };
}

const DESCRIPTIONS = { 200: "OK", 201: "Created", 202: "Accepted" } as const;
