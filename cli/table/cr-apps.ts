import { spec } from "../spec.ts";
import { TAIL, WAIT } from "./app-flags.ts";
import { CR } from "./cr-id.ts";
import { APP_FIELDS } from "./fields.ts";

export const crApps = spec({
  path: ["cr", "apps"],
  guesses: ["previews", "deployments"],
  summary: "List the previews of a change request, or redeploy, open or read the log of one",
  about: [
    "An app with `previews = true` in svc.toml on the default branch has a preview in every open change request that is not a draft: a deployment of its head commit, for members of the project.",
    "The app can be left out if the change request has one preview.",
  ],
  args: [CR, { name: "app", summary: "The slug of the app in svc.toml" }],
  flags: {
    deploy: { kind: "boolean", guesses: ["redeploy", "restart"], summary: "Deploy the preview again" },
    wait: WAIT,
    logs: { kind: "boolean", guesses: ["log"], summary: "Print the log of its newest deployment" },
    tail: TAIL,
    open: { kind: "boolean", summary: "Open it in the browser; without a terminal, print a sign-in link" },
  },
  fields: APP_FIELDS,
  examples: [
    ["svc cr apps 3", "All previews, with state and address"],
    ["svc cr apps 3 web --open", "In the browser"],
    ["svc cr apps 3 --deploy --wait", "Deploy again, and exit with status 1 if that fails"],
    ["svc cr apps 3 --logs --tail 50", "Why it failed"],
  ],
});
