import { EFFORT_MAX } from "../../../src/contract/limits.ts";
import { DEFAULT_MODE, PERMISSION_MODES } from "../../../src/contract/runtimes.ts";
import type { RuntimeOffer } from "../../../src/contract/session.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Options, Select, TextField } from "../../parts/field.tsx";
import type { InputProps } from "../../parts/form.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { MODE_LABELS } from "./choices.tsx";

export function ModeField({ input }: { input: InputProps }) {
  return (
    <Select label="Mode" hint="What the agent may do without asking." {...input}>
      <option value="">The default: {MODE_LABELS[DEFAULT_MODE].toLowerCase()}</option>
      <Options of={PERMISSION_MODES.map((mode) => [mode, MODE_LABELS[mode]])} />
    </Select>
  );
}

export function EffortField({ input }: { input: InputProps }) {
  return (
    <TextField
      label="Effort"
      hint="Optional. How much the model thinks, such as low or high."
      maxLength={EFFORT_MAX}
      {...input}
    />
  );
}

/** The runtimes, each with what it lacks here. */
export function RuntimeField({ projectId, input }: { projectId: string; input: InputProps }) {
  const { data } = useGet<{ runtimes: RuntimeOffer[] }>(
    [projectId, "runtime", "list"],
    path`/projects/${projectId}/runtimes`,
  );
  const offer = data?.runtimes.find(({ name }) => name === input.value);
  const keys = offer?.missing_keys ?? [];
  const lacks = keys.length > 0 ? `It has no key: set one of the secrets ${keys.join(", ")}.` : undefined;
  return (
    <Select
      label="Runtime"
      hint="The program that works as the agent."
      error={offer?.problem ?? lacks}
      {...input}
    >
      <option value="">The project's own</option>
      <Options of={(data?.runtimes ?? []).map((each) => [each.name, runtimeLabel(each)])} />
    </Select>
  );
}

function runtimeLabel({ title, installed, missing_keys }: RuntimeOffer): string {
  if (installed === false) return visibleText(`${title} (not installed)`);
  return visibleText(missing_keys.length > 0 ? `${title} (no key)` : title);
}
