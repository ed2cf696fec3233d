import { Type } from "@sinclair/typebox";
import { CR_LABELS_MAX, LABEL_NAME_MAX } from "./limits.ts";

/** A member of an account. */
export const person = Type.Object({ user_id: Type.String({ format: "uuid" }), name: Type.String() });

/** Labels in the body of a request. */
export const labelNames = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: LABEL_NAME_MAX }), {
      maxItems: CR_LABELS_MAX,
      description,
    }),
  );

/** Longer than any e-mail address. */
export const PERSON_MAX = 320;

/** People in the body of a request. */
export const people = (maxItems: number, description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: PERSON_MAX }), {
      maxItems,
      description: `${description}: members of the account, each by name, e-mail address or id, or @me`,
    }),
  );
