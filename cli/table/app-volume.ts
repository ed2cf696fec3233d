import { bind, spec } from "../spec.ts";

export const rm = spec({
  path: ["apps", "volume", "rm"],
  summary: "Delete the volume of an app with its data",
  about: [
    "No deployment may use it: stop the app first, or deploy it without `volume` in svc.toml. Owners and admins can do this.",
  ],
  args: [{ name: "slug", summary: "The app's slug in svc.toml", required: true }],
  flags: { yes: { kind: "boolean", short: "y", summary: "Skip the confirmation prompt" } },
  fields: ["slug", "removed"],
  examples: [
    ["svc apps volume rm web", "Delete it, after a confirmation"],
    ["svc apps volume rm web --yes", "Delete it without a prompt"],
  ],
});

/** The commands below `svc apps volume`. */
export const VOLUME_COMMANDS = [
  bind(rm, () => import("../commands/apps/volume-rm.ts").then((module) => module.rm)),
];
