import { arrayOf, field, parseJson, textField } from "../../src/contract/json.ts";
import { authorizationOf } from "../runtime/authorization.ts";

/** The variable with the description of the agent, which the daemon sets: `AcpDescription` as JSON. */
export const ACP_VARIABLE = "SVC_ACP";

/** What the agent works with, in its own words. */
export interface AcpChoice {
  /** Null: its command has set what it may do, or it has no modes. */
  mode: string | null;
  /** Whether it may not work without that mode. */
  isModeRequired: boolean;
  /** Whether svc allows changes of files that the agent asks for. */
  allowsEdits: boolean;
  /** The model that its answers are from, as far as svc knows. */
  model: { providerID: string; modelID: string } | null;
  /** How long its model thinks; null: the model's own. */
  effort: string | null;
}

/** How an agent is started and addressed. */
export interface AcpDescription {
  /** The program and its arguments. */
  command: readonly string[];
  /** Variables of its own. */
  variables: Readonly<Record<string, string>>;
  workspace: string;
  /** The file that the conversation is kept in. */
  journal: string;
  choice: AcpChoice;
  /** The variable with a login of the agent, and the file that it reads it from; null: it has none. */
  login: { variable: string; file: string } | null;
  /** Efforts that are set by the command, where the agent does not offer the setting itself. */
  startEfforts: readonly string[];
  /** svc's rules, in Markdown, and how the agent is told them: `file` is one that it reads. */
  rules: { text: string; in: "system-prompt" | "first-prompt" | { file: string } };
  /** Folders with skills, and the folder that it reads them from; null: it reads none. */
  skills: { from: readonly string[]; to: string } | null;
  /** svc's tools: a server of the Model Context Protocol. */
  tools: { type: "http"; name: string; url: string; headers: { name: string; value: string }[] } | null;
}

export interface AcpSettings extends AcpDescription {
  /** Of the agent. */
  environment: Readonly<Record<string, string>>;
  port: number;
  /** The `Authorization` header that clients must send. */
  authorization: string;
}

/** The password is the daemon's: the agent does not get it. */
const NOT_INHERITED = /^(?:SVC_ACP|OPENCODE_)/;

/**
 * @param args of `svc-agent acp`: those of the runtime's program
 * @throws Error if the daemon did not set what is needed
 */
export function readAcpSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): AcpSettings {
  const description = parseJson(env[ACP_VARIABLE] ?? "");
  const port = Number(args[args.indexOf("--port") + 1]);
  if (!isDescription(description) || !Number.isInteger(port))
    throw new Error("svc-agent acp is started by svc-agent itself.");
  return {
    ...description,
    environment: {
      ...Object.fromEntries(
        Object.entries(env).flatMap(([key, value]) =>
          value === undefined || NOT_INHERITED.test(key) || key === description.login?.variable
            ? []
            : [[key, value]],
        ),
      ),
      ...description.variables,
    },
    port,
    authorization: authorizationOf(env["OPENCODE_SERVER_PASSWORD"] ?? ""),
  };
}

/** Only the daemon sends it. */
export function isChoice(value: unknown): value is AcpChoice {
  return typeof field(value, "isModeRequired") === "boolean";
}

function isDescription(value: unknown): value is AcpDescription {
  return arrayOf(field(value, "command")).length > 0 && textField(value, "workspace") !== "";
}
