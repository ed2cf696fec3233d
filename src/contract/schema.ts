import { type TSchema, Type } from "@sinclair/typebox";

/** One of these texts. The pattern is what TypeBox checks: it does not know `enum`, which readers of `openapi.json` do. */
export const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>(
    Type.String({
      enum: [...values],
      pattern: `^(?:${values.map((value) => value.replaceAll(".", "\\.")).join("|")})$`,
    }),
  );

/** A value or null. */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** A full commit id: SHA-1 or SHA-256, in upper or lower case. */
export const commitId = (description: string) =>
  Type.String({ pattern: "^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$", description });
