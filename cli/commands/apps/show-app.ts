import type { App, Deployment } from "../../../src/contract/app.ts";
import { sizeText } from "../../../src/contract/size.ts";
import { authorText } from "../../author-text.ts";
import type { Paint, View } from "../../output.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { oneLine } from "../../text.ts";
import { shortSha } from "../repo/lists.ts";

/** A list of apps, as a table for a terminal or as rows for a script. */
export const listOf = (apps: readonly App[], view: View): string =>
  apps.length === 0 ? "" : table(apps, APPS, view);

const APPS: readonly Column<App>[] = [
  { title: "APP", value: ({ slug }) => slug, paint: (_, view) => view.paint.cyan },
  {
    title: "STATE",
    value: ({ state }) => state,
    shown: (app) => stateText(app),
    paint: ({ state }, view) => statePaint(view.paint, state),
  },
  {
    title: "COMMIT",
    value: ({ live }) => live?.commit ?? "",
    shown: ({ live }) => (live ? shortSha(live.commit) : ""),
  },
  {
    title: "LIVE",
    value: ({ live }) => live?.live_at ?? "",
    shown: ({ live }, view) => (live?.live_at ? ago(live.live_at, view.now) : ""),
    paint: (_, view) => view.paint.dim,
  },
  { title: "ADDRESS", value: ({ url }) => url, flexible: true },
  {
    title: "ACCESS",
    value: ({ access }) => access,
    shown: accessText,
    paint: ({ public_url }, view) => (public_url === null ? view.paint.dim : view.paint.yellow),
  },
];

/** The deployments of an app, the newest first. */
export const deploymentsOf = (deployments: readonly Deployment[], view: View): string =>
  deployments.length === 0 ? "" : table(deployments, DEPLOYMENTS, view);

const DEPLOYMENTS: readonly Column<Deployment>[] = [
  { title: "#", value: ({ number }) => String(number) },
  {
    title: "STATE",
    value: ({ state }) => state,
    paint: ({ state }, view) => statePaint(view.paint, state),
  },
  { title: "COMMIT", value: ({ commit }) => commit, shown: ({ commit }) => shortSha(commit) },
  {
    title: "WHY",
    value: ({ reason }) => reason,
    shown: ({ reason, rollback_to }) => (rollback_to === null ? reason : `${reason} to ${rollback_to}`),
  },
  { title: "BY", value: ({ author }) => authorText(author) },
  {
    title: "STARTED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, view) => ago(created_at, view.now),
    paint: (_, view) => view.paint.dim,
  },
  { title: "ERROR", value: ({ error }) => error ?? "", flexible: true },
];

/** `live`, or `live, building 4` while a deployment is in progress. */
export function stateText({ state, next }: App): string {
  return oneLine(next === null ? state : `${state}, ${next.state} ${next.number}`);
}

/** Who may open an app: a manifest may say `public` where the server forbids it, or of an app that is disabled. */
export function accessText({ access, enabled, public_url }: App): string {
  return access === "public" && enabled && public_url === null ? "members (server forbids public)" : access;
}

/** Where the program has its volume, and how large that is. */
export function volumeText({ volume }: App): string | null {
  if (volume === null) return null;
  const size = volume.bytes === null ? [] : [sizeText(volume.bytes)];
  return [volume.path === null ? "not in svc.toml" : oneLine(volume.path), ...size].join(", ");
}

export function statePaint(paint: Paint, state: string): (text: string) => string {
  if (state === "live") return paint.green;
  if (state === "failed" || state === "down") return paint.red;
  return state === "deploying" || state === "building" || state === "starting" ? paint.yellow : paint.dim;
}

/** One line on the result of an action on an app. */
export function outcome(app: App, sentence: string, view: View): string {
  return `${statePaint(view.paint, app.state)(oneLine(app.slug))}: ${sentence}\n`;
}
