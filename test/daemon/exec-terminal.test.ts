import { expect } from "bun:test";
import { startProgram } from "../../daemon/exec/program.ts";
import { createChildren } from "../../daemon/process/children.ts";
import { needs } from "../helpers/needs.ts";

const test = needs("root, to start processes as other users", process.getuid?.() === 0);
/** Nobody's: no account of the machine needs to have it. */
const user = { uid: 48_123, gid: 48_124 };
/** A daemon that is busy gives the terminal this many milliseconds after the program has started. */
const LATE_MS = 300;

test("a program starts with a terminal that is its user's already, however busy the daemon is", async () => {
  let printed = "";
  const children = createChildren();
  const program = startProgram(
    {
      settings: { user, wrap: [], workspace: "/" },
      children: {
        ...children,
        startInTerminal(command, terminal) {
          const child = children.startInTerminal(command, terminal);
          Bun.sleepSync(LATE_MS);
          return child;
        },
      },
    },
    {
      command: ["stat", "-Lc", "%u", "/proc/self/fd/0"],
      terminal: { cols: 80, rows: 24 },
      environment: { PATH: process.env["PATH"] ?? "" },
    },
    {
      stdout(bytes) {
        printed += Buffer.from(bytes).toString();
      },
      stderr() {},
    },
  );
  expect(await program.exited).toEqual({ code: 0, signal: null });
  await program.silent;
  program.close();
  expect(printed).toBe(`${user.uid}\r\n`);
});
