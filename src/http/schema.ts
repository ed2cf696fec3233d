import { type TSchema, Type } from "@sinclair/typebox";

/** A UUID in a path. */
export const uuidParam = Type.String({ format: "uuid" });

/** `{ok: true}`: the answer of a verb that leaves nothing to show. */
export const ok = Type.Object({ ok: Type.Literal(true) });

/** The body of a list: the rows under their noun, and the next page's cursor when there is one. */
export function listOf<Noun extends string, Row extends TSchema>(noun: Noun, row: Row) {
  return Type.Intersect([
    Type.Object({ [noun]: Type.Array(row) } as Record<Noun, ReturnType<typeof Type.Array<Row>>>),
    Type.Object({ next_cursor: Type.Optional(Type.String()) }),
  ]);
}
