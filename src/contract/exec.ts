import { type Static, Type } from "@sinclair/typebox";
import { TERMINAL_MAX } from "./exec-stream.ts";

/** A command and its arguments together, in characters. */
const COMMAND_MAX = 32 * 1024;

/** Body of `POST /v1/projects/:id/sessions/:sid/exec`. */
export const execBody = Type.Object({
  command: Type.Optional(
    Type.Array(Type.String({ maxLength: COMMAND_MAX, pattern: "^[^\\u0000]*$" }), {
      maxItems: 1000,
      description: "The program and its arguments; none: a shell",
    }),
  ),
  tty: Type.Optional(Type.Boolean({ description: "Whether it gets a terminal" })),
  cols: Type.Optional(Type.Integer({ minimum: 1, maximum: TERMINAL_MAX })),
  rows: Type.Optional(Type.Integer({ minimum: 1, maximum: TERMINAL_MAX })),
});
export type ExecBody = Static<typeof execBody>;

/** A command that a person has run in a sandbox. */
export const exec = Type.Object({
  exec_id: Type.String({ format: "uuid" }),
  user_id: Type.String({ format: "uuid" }),
  user_name: Type.String(),
  command: Type.Array(Type.String(), { description: "Empty: a shell" }),
  tty: Type.Boolean(),
  created_at: Type.String({ format: "date-time" }),
});
export type Exec = Static<typeof exec>;

/** The answer: the command runs, and waits for a WebSocket. */
export const startedExec = Type.Composite([
  exec,
  Type.Object({
    path: Type.String({ description: "The path of the WebSocket, below the server's address" }),
  }),
]);
export type StartedExec = Static<typeof startedExec>;
