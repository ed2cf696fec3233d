import type { RuntimeChoices } from "../contract/daemon.ts";
import { arrayOf, field, textField } from "../contract/json.ts";
import { EFFORT_MAX, EFFORT_PATTERN } from "../contract/limits.ts";
import { PERMISSION_MODES } from "../contract/runtimes.ts";

/** What a daemon offers. Sandboxes are not trusted: only texts of a bounded length are read. */
export function readChoices(value: unknown): RuntimeChoices {
  const text = (of: unknown, name: string) => textField(of, name).slice(0, CHOICE_TEXT_MAX);
  return {
    models: arrayOf(field(value, "models"))
      .slice(0, CHOICES_MAX)
      .map((model) => ({
        id: text(model, "id"),
        name: text(model, "name"),
        efforts: arrayOf(field(model, "efforts"))
          .filter((effort) => typeof effort === "string" && EFFORT.test(effort))
          .slice(0, EFFORTS_MAX)
          .map(String),
      })),
    gateway: field(value, "gateway") === true,
    agents: arrayOf(field(value, "agents"))
      .slice(0, CHOICES_MAX)
      .map((agent) => ({ name: text(agent, "name"), description: text(agent, "description") || null })),
    modes: PERMISSION_MODES.filter((mode) => arrayOf(field(value, "modes")).includes(mode)),
  };
}

const CHOICES_MAX = 500;
const CHOICE_TEXT_MAX = 500;
const EFFORTS_MAX = 20;
const EFFORT = new RegExp(`^(?=.{1,${EFFORT_MAX}}$)${EFFORT_PATTERN.slice(1)}`);
