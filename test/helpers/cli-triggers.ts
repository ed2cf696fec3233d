import type { Fired, Switched, Trigger, TriggerDetail, TriggerList } from "../../src/contract/trigger.ts";

const TIME = "2026-11-20T10:00:00.000Z";
const SESSION_ID = "66666666-6666-4666-8666-666666666666";

const trigger: Trigger = {
  slug: "nightly",
  name: "Night work",
  type: "cron",
  agent: null,
  model: "small",
  enabled: true,
  cron: "0 3 * * *",
  timezone: "Europe/Berlin",
  next_fire_at: "2026-11-21T02:00:00.000Z",
  last_fired_at: TIME,
  last_error: null,
  webhook_url: null,
};

const missed = {
  firing_id: SESSION_ID,
  source: "cron",
  state: "missed",
  due_at: TIME,
  due_until: TIME,
  session_id: null,
  error: null,
  created_at: TIME,
  ended_at: TIME,
} as const;

/** A server's responses about triggers. */
export const TRIGGER_ROUTES = {
  "GET /projects/:p/triggers": (): TriggerList => ({
    triggers: [trigger],
    errors: [],
    commit: "a".repeat(40),
    failure: null,
  }),
  "GET /projects/:p/triggers/:n": (): TriggerDetail => ({
    ...trigger,
    prompt: "Update the packages.",
    secret_env: null,
    secrets: ["DEPLOY_KEY", "NPM_TOKEN"],
    firings: [{ ...missed, state: "fired", due_until: null, session_id: SESSION_ID }, missed],
  }),
  "POST /projects/:p/triggers/:n/fire": (): Fired => ({ status: "fired", session_id: SESSION_ID }),
  "PATCH /projects/:p/triggers/:n": ({ body }: { body: unknown }): Switched => ({
    slug: "nightly",
    enabled: Reflect.get(Object(body), "enabled") === true,
    status: "unchanged",
    reason: null,
    change_request: null,
  }),
};
