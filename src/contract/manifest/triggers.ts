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

/** An agent's session that the manifest asks for, by time or by webhook (contract: Manifest). */
export interface ManifestTrigger {
  slug: string;
  type: "cron" | "webhook";
  /** A template: `{{ dotted.path }}`. */
  prompt: string;
  name: string | null;
  agent: string | null;
  /** Null: the one that sessions have by default. */
  model: string | null;
  /** The secrets that its sessions get, of those that are for them; null: all of those. */
  secrets: string[] | null;
  enabled: boolean;
  /** Null of a webhook. */
  cron: string | null;
  /** A name of the tz database. */
  timezone: string;
  /** The project's secret that signs the webhook; null of a cron. */
  secretEnv: string | null;
}

/** Triggers of one project: each is looked at whenever anything is due. */
const TRIGGERS_MAX = 100;
const SECRETS_MAX = 100;
const TIMEZONE = "UTC";
/** Characters of what is wrong in a prompt that are repeated. */
const SHOWN_MAX = 64;

const fields: TableShape["fields"] = {
  slug: {
    is: "value",
    kind: kinds.triggerSlug,
    need: "required",
    example: "nightly",
    about: "Its name in addresses and commands; each has its own.",
  },
  type: {
    is: "value",
    kind: kinds.triggerType,
    need: "required",
    example: "cron",
    about: "What fires it: `cron` (times) or `webhook` (a signed request).",
  },
  prompt: {
    is: "value",
    kind: kinds.prompt,
    need: "required",
    example: "Update the packages",
    about: "What the agent is told. `{{ dotted.path }}` stands for what the firing knows.",
  },
  name: { is: "value", kind: kinds.name, about: "A name for people." },
  agent: {
    is: "value",
    kind: kinds.agent,
    about: "The agent that is told; without it, the runtime's default.",
  },
  model: {
    is: "value",
    kind: kinds.model,
    about: "The model that the agent uses; without it, the one that sessions have by default.",
  },
  secrets: {
    is: "names",
    namesMax: SECRETS_MAX,
    about: "The secrets that its sessions get, of those that are for them; without it, all of those.",
  },
  enabled: { is: "value", kind: kinds.flag, fallback: true, about: "Whether it fires." },
  cron: {
    is: "value",
    kind: kinds.cron,
    example: "0 9 * * 1-5",
    about:
      "When: five fields (minute hour day month weekday), or six with a second before them. Only of type `cron`.",
  },
  timezone: {
    is: "value",
    kind: kinds.timezone,
    fallback: TIMEZONE,
    about: "The time zone of `cron`, by its name in the tz database.",
  },
  secret_env: {
    is: "value",
    kind: kinds.secretName,
    example: "WEBHOOK_SECRET",
    about: "The project's secret that signs the requests. Only of type `webhook`.",
  },
};

export const triggersShape: ListShape = {
  is: "list",
  about: "Sessions that start by themselves: at times, or when a webhook is called.",
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

/** What each type needs, and what does nothing in it. */
const NEEDED = { cron: "cron", webhook: "secret_env" } as const;
const IDLE = { cron: ["secret_env"], webhook: ["cron", "timezone"] } as const;

function problemsOfTrigger(trigger: Table, path: Path): Problem[] {
  const { type, prompt } = trigger;
  return [
    ...problemsOfPlaces(prompt, path),
    ...(kinds.triggerType.fits(type) ? problemsOfType(type, trigger, path) : []),
  ];
}

/** Somebody meant a place, and its braces would reach the agent. */
function problemsOfPlaces(prompt: unknown, path: Path): Problem[] {
  const stray = kinds.prompt.fits(prompt) ? strayBraces(prompt) : null;
  if (stray === null) return [];
  const where = nameOf([...path, "prompt"]);
  const message = `${where} has ${JSON.stringify(stray.text.slice(0, SHOWN_MAX))} in line ${stray.line} of the text, which is no {{ dotted.path }} and stays as it is.`;
  return [{ path: [...path, "prompt"], at: "value", message, severity: "warning" }];
}

function problemsOfType(type: keyof typeof NEEDED, trigger: Table, path: Path): Problem[] {
  const idle = IDLE[type].filter((key) => Object.hasOwn(trigger, key));
  return [
    ...(Object.hasOwn(trigger, NEEDED[type]) ? [] : [lacks(fields, path, NEEDED[type])]),
    ...idle.map((key): Problem => {
      const message = `${nameOf([...path, key])} does nothing in a trigger of type "${type}".`;
      return { path: [...path, key], at: "key", message, severity: "warning" };
    }),
  ];
}

/** @param trigger one without errors */
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
