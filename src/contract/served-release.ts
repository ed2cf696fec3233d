import { type Static, Type } from "@sinclair/typebox";

/** Answer of `GET /v1/release`: the newest release that this server offers to install; null if it has none. */
export const servedRelease = Type.Object({ version: Type.Union([Type.String(), Type.Null()]) });
export type ServedRelease = Static<typeof servedRelease>;
