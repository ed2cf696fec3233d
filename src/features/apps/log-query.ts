import { type Static, Type } from "@sinclair/typebox";
import { LOG_LINES } from "../runs/log.ts";

/** The number of a deployment, or of lines. */
export const number = Type.String({ pattern: "^[1-9][0-9]{0,5}$" });

/** Which deployment's log, and how many of its last lines. */
export const logQuery = Type.Object({ deployment: Type.Optional(number), tail: Type.Optional(number) });

export function readLogQuery({ deployment, tail }: Static<typeof logQuery>): {
  number: number | null;
  tail: number;
} {
  return {
    number: deployment === undefined ? null : Number(deployment),
    tail: Math.min(Number(tail ?? LOG_LINES.default), LOG_LINES.max),
  };
}
