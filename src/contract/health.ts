import { type Static, Type } from "@sinclair/typebox";

/** Answer of `GET /v1/health`. */
export const health = Type.Object({
  status: Type.Literal("ok"),
  service: Type.Literal("svc-api"),
  version: Type.String(),
  database: Type.Union([Type.Literal("postgres"), Type.Literal("embedded")]),
});
export type Health = Static<typeof health>;
