import type { BootStep, Session } from "../../../src/contract/session.ts";

/** The steps of a start, in order: name and description. */
export const STEPS: Readonly<Record<BootStep, readonly [name: string, does: string]>> = {
  branch: ["Branch", "creating the session's branch"],
  image: ["Image", "preparing the sandbox image"],
  waiting: ["Queue", "waiting for a slot of the server"],
  sandbox: ["Sandbox", "starting the sandbox"],
  clone: ["Clone", "cloning the repository"],
  setup: ["Setup", "running the project's setup command"],
  runtime: ["Agent", "starting the agent"],
};

/** What lists and pages call a session: its title, or its abbreviated id. */
export const titleOf = ({ title, session_id }: Session): string => title ?? `Session ${shortId(session_id)}`;

export const shortId = (sessionId: string): string => sessionId.slice(0, 8);

/** Branches that svc named are the session's id, which is abbreviated. */
export const branchOf = ({ branch_name, session_id }: Session): string =>
  branch_name === session_id ? shortId(session_id) : branch_name;

/** Whether the session is starting or queued. */
export const isStarting = ({ status }: Session): boolean =>
  ["queued", "branching", "provisioning"].includes(status);

/** Whether the agent works, or waits for an answer. */
export const isBusy = ({ activity }: Session): boolean => activity === "working" || activity === "waiting";
