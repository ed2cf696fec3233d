import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { PERMISSION_MODES, type PermissionMode } from "../../../src/contract/runtimes.ts";
import type { EditSessionBody, Session, SessionChoices } from "../../../src/contract/session.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Options } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { sessionKey } from "./follow-session.ts";

/** What each permission mode is called. */
export const MODE_LABELS: Record<PermissionMode, string> = {
  ask: "Asks first",
  "auto-edit": "Edits files, asks for the rest",
  full: "Does not ask",
};

/** What the agent works with. A change applies to the next prompt. */
export function Choices({ session }: { session: Session }) {
  const queries = useQueryClient();
  const { project_id, session_id, status, model, agent_name, mode, effort } = session;
  const own = path`/projects/${project_id}/sessions/${session_id}`;
  const key = sessionKey(project_id, session_id);
  // a start, or another model, may offer something else
  const { data } = useGet<SessionChoices>([...key, "choices", status, model ?? ""], `${own}/choices`);
  const edit = useMutation({
    mutationFn: (body: EditSessionBody) => call<Session>("PATCH", own, { body }),
    onSettled: () => queries.invalidateQueries({ queryKey: key, exact: true }),
  });
  if (!data) return null;
  const { models, agents } = data;
  const current = models.find(({ id }) => id === model || id === `svc/${model}`);
  const efforts = current?.efforts ?? [...new Set(models.flatMap((each) => each.efforts))];
  return (
    <fieldset className="flex flex-col gap-1" disabled={edit.isPending}>
      <legend className="sr-only">For the next prompt</legend>
      <div className="flex flex-wrap gap-x-3 gap-y-1 px-2 text-sm">
        <Choice
          label="Model"
          value={current?.id ?? model}
          own="The agent's own"
          // a model cannot be unset: the agent would go on with it
          isOwnOffered={model === null}
          options={models.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`])}
          onChoose={(value) => value !== null && edit.mutate({ model: value })}
        />
        {agents.length > 0 && (
          <Choice
            label="Agent"
            value={agent_name}
            own="The project's own"
            options={agents.map(({ name }) => [name, name])}
            onChoose={(value) => edit.mutate({ agent_name: value })}
          />
        )}
        <Choice
          label="Mode"
          value={mode}
          options={PERMISSION_MODES.filter((each) => data.modes.includes(each) || each === mode).map(
            (each) => [each, MODE_LABELS[each]],
          )}
          onChoose={(value) => {
            const chosen = PERMISSION_MODES.find((each) => each === value);
            if (chosen) edit.mutate({ mode: chosen });
          }}
        />
        {(efforts.length > 0 || effort !== null) && (
          <Choice
            label="Effort"
            value={effort}
            own="The model's own"
            options={efforts.map((each) => [each, each])}
            onChoose={(value) => edit.mutate({ effort: value })}
          />
        )}
      </div>
      <Failure error={edit.error} />
    </fieldset>
  );
}

interface ChoiceProps {
  label: string;
  /** Null: none is chosen. */
  value: string | null;
  /** What is used if none is chosen; absent: one always is. */
  own?: string;
  isOwnOffered?: boolean;
  options: readonly (readonly [value: string, label: string])[];
  onChoose: (value: string | null) => void;
}

function Choice({ label, value, own, isOwnOffered = true, options, onChoose }: ChoiceProps) {
  const id = useId();
  // one that the agent does not name is chosen nevertheless
  const isListed = value === null || options.some(([each]) => each === value);
  return (
    <span className="flex min-w-0 items-center gap-1 max-sm:w-full">
      <label htmlFor={id} className="text-muted max-sm:w-14">
        {label}
      </label>
      <select
        id={id}
        className="max-w-48 truncate max-sm:max-w-none max-sm:flex-1 rounded-md border border-edge bg-surface px-1.5 py-0.5"
        value={value ?? ""}
        onChange={({ target }) => onChoose(target.value || null)}
      >
        {own !== undefined && isOwnOffered && <option value="">{own}</option>}
        {!isListed && <option value={value}>{visibleText(value)}</option>}
        <Options of={options.map(([each, text]) => [each, visibleText(text)])} />
      </select>
    </span>
  );
}
