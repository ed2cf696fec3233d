import { strayBraces } from "../template.ts";
import * as kinds from "./kinds.ts";
import {
  type ListShape,
  lacks,
  nameOf,
  type Path,
  type Problem,
  type Table,
  type TableShape,
} from "./shape.ts";
import { stringOf } from "./values.ts";

/** A session that starts on a schedule or by a webhook (contract: Manifest). */
export interface ManifestTrigger {
  slug: string;
  type: "cron" | "webhook";
  /** A template: `{{ dotted.path }}`. */
  prompt: string;
  name: string | null;
  agent: string | null;
  /** Null: the default model of sessions. */
  model: string | null;
  /** Limits the secrets that its sessions get; null: all that are for them. */
  secrets: string[] | null;
  enabled: boolean;
  /** Null for a webhook. */
  cron: string | null;
  /** A name of the tz database. */
  timezone: string;
  /** The project's secret that signs the webhook; null for a cron. */
  secretEnv: string | null;
}

/** Triggers of one project. */
const TRIGGERS_MAX = 100;
const SECRETS_MAX = 100;
const TIMEZONE = "UTC";
/** Characters of an invalid placeholder that are repeated in a message. */
const SHOWN_MAX = 64;

const fields: TableShape["fields"] = {
  slug: {
    is: "value",
    kind: kinds.triggerSlug,
    need: "required",
    example: "nightly",
    about: "Its name in URLs and commands, unique in the project.",
  },
  type: {
    is: "value",
    kind: kinds.triggerType,
    need: "required",
    example: "cron",
    about: "What fires it: `cron` (a schedule) or `webhook` (a signed request).",
  },
  prompt: {
    is: "value",
    kind: kinds.prompt,
    need: "required",
    example: "Update the packages",
    about: "The prompt for the agent. `{{ dotted.path }}` is replaced with data of the event.",
  },
  name: { is: "value", kind: kinds.name, about: "A display name." },
  agent: {
    is: "value",
    kind: kinds.agent,
    about: "The agent; by default that of the runtime.",
  },
  model: {
    is: "value",
    kind: kinds.model,
    about: "The model; by default that of sessions.",
  },
  secrets: {
    is: "names",
    namesMax: SECRETS_MAX,
    about: "Limits the secrets that its sessions get; by default all that are for them.",
  },
  enabled: { is: "value", kind: kinds.flag, fallback: true, about: "Whether it fires." },
  cron: {
    is: "value",
    kind: kinds.cron,
    example: "0 9 * * 1-5",
    about:
      "The schedule: five fields (minute hour day month weekday), or six with seconds first. Only for type `cron`.",
  },
  timezone: {
    is: "value",
    kind: kinds.timezone,
    fallback: TIMEZONE,
    about: "The time zone of `cron`, a name of the tz database.",
  },
  secret_env: {
    is: "value",
    kind: kinds.secretName,
    example: "WEBHOOK_SECRET",
    about: "The project's secret that signs the requests. Only for type `webhook`.",
  },
};

export const triggersShape: ListShape = {
  is: "list",
  about: "Sessions that start automatically, on a schedule or when a webhook is called.",
  itemsMax: TRIGGERS_MAX,
  item: {
    is: "table",
    about: "A trigger.",
    fields,
    problemsOf: problemsOfTrigger,
    schema: {
      anyOf: [
        { properties: { type: { enum: ["cron"] }, secret_env: false }, required: ["cron"] },
        {
          properties: { type: { enum: ["webhook"] }, cron: false, timezone: false },
          required: ["secret_env"],
        },
      ],
    },
  },
};

/** The key that each type requires, and the keys that have no effect in it. */
const NEEDED = { cron: "cron", webhook: "secret_env" } as const;
const IDLE = { cron: ["secret_env"], webhook: ["cron", "timezone"] } as const;

function problemsOfTrigger(trigger: Table, path: Path): Problem[] {
  const { type, prompt } = trigger;
  return [
    ...problemsOfPlaceholders(prompt, path),
    ...(kinds.triggerType.fits(type) ? problemsOfType(type, trigger, path) : []),
  ];
}

/** Warns about an invalid placeholder, which the agent would see as it is. */
function problemsOfPlaceholders(prompt: unknown, path: Path): Problem[] {
  const stray = kinds.prompt.fits(prompt) ? strayBraces(prompt) : null;
  if (stray === null) return [];
  const where = nameOf([...path, "prompt"]);
  const message = `${where} has ${JSON.stringify(stray.text.slice(0, SHOWN_MAX))} in line ${stray.line} of the text, which is not a {{ dotted.path }} and is left unchanged.`;
  return [{ path: [...path, "prompt"], at: "value", message, severity: "warning" }];
}

function problemsOfType(type: keyof typeof NEEDED, trigger: Table, path: Path): Problem[] {
  const idle = IDLE[type].filter((key) => Object.hasOwn(trigger, key));
  return [
    ...(Object.hasOwn(trigger, NEEDED[type]) ? [] : [lacks(fields, path, NEEDED[type])]),
    ...idle.map((key): Problem => {
      const message = `${nameOf([...path, key])} has no effect in a trigger of type "${type}".`;
      return { path: [...path, key], at: "key", message, severity: "warning" };
    }),
  ];
}

/** @param trigger a valid one */
export function readTrigger(trigger: Table): ManifestTrigger {
  const { secrets } = trigger;
  const type = trigger["type"] === "cron" ? "cron" : "webhook";
  return {
    slug: stringOf(trigger, "slug") ?? "",
    type,
    prompt: stringOf(trigger, "prompt") ?? "",
    name: stringOf(trigger, "name"),
    agent: stringOf(trigger, "agent"),
    model: stringOf(trigger, "model"),
    secrets: Array.isArray(secrets) ? [...new Set(secrets.filter(kinds.secretName.fits))] : null,
    enabled: trigger["enabled"] !== false,
    cron: type === "cron" ? stringOf(trigger, "cron") : null,
    timezone: stringOf(trigger, "timezone") ?? TIMEZONE,
    secretEnv: type === "webhook" ? stringOf(trigger, "secret_env") : null,
  };
}
