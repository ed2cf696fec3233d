import { type Static, Type } from "@sinclair/typebox";

/** Ports of one sandbox in a list. */
export const PORTS_MAX = 100;
/** The longest name of a process (proc_pid_comm(5)), several times. */
export const PROCESS_MAX = 64;

/** A port of a sandbox on which a program listens. */
export const listeningPort = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  process: Type.Union([Type.String({ maxLength: PROCESS_MAX }), Type.Null()], {
    description: "The name of the process; null: unknown",
  }),
});
export type ListeningPort = Static<typeof listeningPort>;
