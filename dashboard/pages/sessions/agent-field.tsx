import { useId } from "react";
import type { Agent } from "../../../src/contract/agent.ts";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Options, TextField } from "../../parts/field.tsx";
import type { InputProps } from "../../parts/form.tsx";
import { visibleText } from "../../parts/visible.tsx";

/** The agent of a new session, with suggestions if svc can list the agents. */
export function AgentField({ projectId, input }: { projectId: string; input: InputProps }) {
  const offered = useId();
  const { data } = useGet<{ agents: Agent[] }>(
    [projectId, "agent", "list"],
    path`/projects/${projectId}/agents`,
  );
  const agents = (data?.agents ?? []).filter(canBeOffered);
  return (
    <>
      <TextField
        label="Agent"
        hint="Optional. Default: the agent of the project."
        maxLength={NAME_MAX}
        list={offered}
        {...input}
      />
      <datalist id={offered}>
        <Options of={agents.map(({ name, description }) => [name, visibleText(description ?? "")])} />
      </datalist>
    </>
  );
}

/** Names with confusable characters are not suggested. */
const canBeOffered = ({ name, mode }: Agent): boolean => mode !== "subagent" && visibleText(name) === name;
