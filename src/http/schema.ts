import { type TSchema, Type } from "@sinclair/typebox";

/** A UUID in a path. */
export const uuidParam = Type.String({ format: "uuid" });

/** `{ok: true}`: the answer of a verb that leaves nothing to show. */
export const ok = Type.Object({ ok: Type.Literal(true) });

/** The body of a list: the rows under their noun, and the next page's cursor when there is one. */
export function listOf(noun: string, row: TSchema) {
  return Type.Object({ [noun]: Type.Array(row), next_cursor: Type.Optional(Type.String()) });
}

/**
 * What a route answers, for the API document. The verbs' types hold their answers to the contract, and a test holds
 * the routes to it: checking each answer again as it leaves would be most of the time of a long list.
 */
export function answer(status: 200 | 201 | 202, schema: TSchema) {
  const content = { "application/json": { schema: JSON.parse(JSON.stringify(schema)) } };
  return { detail: { responses: { [status]: { description: DESCRIPTIONS[status], content } } } };
}

const DESCRIPTIONS = { 200: "OK", 201: "Created", 202: "Accepted" } as const;
