import { usage } from "../failure.ts";
import { bridge } from "../mcp/bridge.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/tools.ts";

/** The Model Context Protocol on standard input and output, for an agent on this machine. */
export const mcp: Handler<typeof table.mcp> = async (context) => {
  const { system } = context;
  if (system.stdin.isTTY)
    throw usage(
      "svc mcp is started by a coding agent, which sends it messages on standard input.",
      "Register it with your agent, for example: claude mcp add svc -- svc mcp",
    );
  await bridge(await context.api(), {
    input: system.stdin.stream(),
    write: (line) => system.stdout.write(line),
  });
};
