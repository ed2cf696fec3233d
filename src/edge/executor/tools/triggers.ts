import { listTriggers } from "../../../features/triggers/list.ts";
import { projectTool, type Tool } from "../tool.ts";

/** Triggers returned at most: a manifest can have more. */
const TRIGGERS_MAX = 100;

export const triggerTools: Tool[] = [
  projectTool({
    name: "list_triggers",
    title: "List triggers",
    description:
      "Lists the triggers of the project: schedules and webhooks that start sessions, with the times of their last and next firing. They are defined in svc.toml on the default branch; to change one, propose a change of that file.",
    isRead: true,
    callers: "all",
    fields: {},
    async run(deps, { project }) {
      const { triggers, errors, failure } = await listTriggers(deps, project);
      return {
        triggers: triggers
          .slice(0, TRIGGERS_MAX)
          .map(({ slug, name, type, enabled, cron, timezone, next_fire_at, last_fired_at, last_error }) => ({
            slug,
            name,
            type,
            enabled,
            cron,
            timezone,
            next_fire_at,
            last_fired_at,
            last_error,
          })),
        total: triggers.length,
        manifest_errors: errors.slice(0, TRIGGERS_MAX),
        failure,
      };
    },
  }),
];
