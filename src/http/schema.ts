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
 * @param text a media type that a client may request instead, whose content has no schema
 */
export function answer(status: 200 | 201 | 202, schema: TSchema, text?: "text/x-diff") {
  const content: Record<string, { schema: object }> = {
    "application/json": { schema: JSON.parse(JSON.stringify(schema)) },
  };
  if (text !== undefined) content[text] = { schema: { type: "string" } };
  return { detail: { responses: { [status]: { description: DESCRIPTIONS[status], content } } } };
}

/** The responses of a route that has more than one, by status. */
export function answers(schemas: Partial<Record<200 | 202, TSchema>>) {
  const each = ([200, 202] as const).flatMap((status) => {
    const schema = schemas[status];
    return schema ? [answer(status, schema).detail.responses] : [];
  });
  return { detail: { responses: Object.assign({}, ...each) } };
}

/** A route whose response is a stream of server-sent events, whose data are JSON of this schema. */
export function answerEvents(description: string, data: TSchema) {
  const schema = {
    type: "string" as const,
    contentMediaType: "application/json",
    contentSchema: JSON.parse(JSON.stringify(data)),
  };
  return {
    detail: {
      parameters: [LAST_EVENT_ID],
      responses: { 200: { description, content: { "text/event-stream": { schema } } } },
    },
  };
}

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  schema: { type: "string" as const },
  description: "The id of the last event that was received: the stream resumes after it",
};

const DESCRIPTIONS = { 200: "OK", 201: "Created", 202: "Accepted" } as const;
