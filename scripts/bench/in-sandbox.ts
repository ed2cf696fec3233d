import { allProcesses } from "../../test/helpers/processes.ts";

/**
 * The command prefix that runs a command in the network namespace of a session's sandbox, but otherwise on the host.
 * @throws Error if the agent runtime of the session is not found
 */
export function inNetworkOf(session: string): string[] {
  const { pid } = runtimeOf(session);
  const enter = ["nsenter", `--net=/proc/${pid}/ns/net`];
  // only root may enter the namespace of another user
  if (process.getuid?.() !== 0) enter.push(`--user=/proc/${pid}/ns/user`, "--preserve-credentials");
  return [...enter, "--"];
}

/** The process of a session's agent runtime. @throws Error if it is not found */
export function runtimeOf(session: string): ReturnType<typeof allProcesses>[number] {
  const found = allProcesses().find(
    ({ command, environment }) =>
      /^\S*opencode\S* serve /.test(command) && environment.some((each) => each.includes(session)),
  );
  if (!found) throw new Error("agent runtime process not found");
  return found;
}
