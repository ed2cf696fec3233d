import { allProcesses } from "../../test/helpers/processes.ts";

/**
 * What stands before a command that is to run in the network namespace of a session's sandbox, and see everything else as
 * this machine has it.
 * @throws Error when the agent runtime of the session does not run here
 */
export function inNetworkOf(session: string): string[] {
  const { pid } = runtimeOf(session);
  const enter = ["nsenter", `--net=/proc/${pid}/ns/net`];
  // only root enters a namespace of somebody else's
  if (process.getuid?.() !== 0) enter.push(`--user=/proc/${pid}/ns/user`, "--preserve-credentials");
  return [...enter, "--"];
}

/** The process of a session's agent runtime. @throws Error when there is none */
export function runtimeOf(session: string): ReturnType<typeof allProcesses>[number] {
  const found = allProcesses().find(
    ({ command, environment }) =>
      /^\S*opencode\S* serve /.test(command) && environment.some((each) => each.includes(session)),
  );
  if (!found) throw new Error("the agent runtime is not found");
  return found;
}
