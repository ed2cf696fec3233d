import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import type { Agent } from "../../../src/contract/agent.ts";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { TextField } from "../../parts/field.tsx";
import { visibleText } from "../../parts/visible.tsx";

/** The agent of a new session, with suggestions if svc can list the agents. */
export function AgentField({
  projectId,
  value,
  onChange,
}: {
  projectId: string;
  value: string;
  onChange: (event: { target: { value: string } }) => void;
}) {
  const offered = useId();
  const { data } = useQuery({
    queryKey: [projectId, "agent", "list"],
    queryFn: ({ signal }) =>
      call<{ agents: Agent[] }>("GET", path`/projects/${projectId}/agents`, { signal }),
  });
  return (
    <>
      <TextField
        label="Agent"
        hint="Optional. Default: the agent of the project."
        maxLength={NAME_MAX}
        list={offered}
        value={value}
        onChange={onChange}
      />
      <datalist id={offered}>
        {(data?.agents ?? []).filter(canBeOffered).map(({ name, description }) => (
          <option key={name} value={name}>
            {visibleText(description ?? "")}
          </option>
        ))}
      </datalist>
    </>
  );
}

/** Names with confusable characters are not suggested. */
const canBeOffered = ({ name, mode }: Agent): boolean => mode !== "subagent" && visibleText(name) === name;
